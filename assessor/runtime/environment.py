"""Reading the environment: every helper refuses what it does not understand."""

import os
import re
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def text(name: str, default: str, env: Mapping[str, str] = os.environ) -> str:
    """Return a variable without blanks around it; empty is as not set."""
    return env.get(name, "").strip() or default


def flag(name: str, default: bool, env: Mapping[str, str] = os.environ) -> bool:
    """Return a yes/no variable; anything but a plain yes or no is refused."""
    value = text(name, "", env).lower()
    if not value:
        return default
    if value in _TRUE | _FALSE:
        return value in _TRUE
    raise ImproperlyConfigured(f"{name} is {value!r}; it must be one of 1, 0, true, false, yes, no, on, off.")


def number(name: str, default: int, env: Mapping[str, str] = os.environ) -> int:
    """Return a whole number of at least 1."""
    value = text(name, "", env)
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or int(value) < 1:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a whole number of at least 1.")
    return int(value)


def choice(name: str, among: tuple[str, ...], env: Mapping[str, str] = os.environ) -> str:
    """Return one of several words; the first where nothing is set."""
    value = text(name, among[0], env)
    if value not in among:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be one of {', '.join(among)}.")
    return value


def words(name: str, default: str, env: Mapping[str, str] = os.environ) -> list[str]:
    """Return a comma-separated list without blanks, without an empty entry; empty where the default is."""
    value = text(name, default, env)
    if not value:
        return []
    entries = [entry.strip() for entry in value.split(",")]
    if not all(entries):
        raise ImproperlyConfigured(f"{name} has an empty entry; write a,b,c.")
    return entries


def names_host(hosts: Collection[str], host: str, port: int) -> bool:
    """Say whether a list of hosts has one, for all of its ports or for this one."""
    return host in hosts or f"{host}:{port}" in hosts


def database_url(name: str, default: str, env: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return Django's settings of the database that a URL names."""
    url = text(name, default, env)
    if urlsplit(url).scheme not in ("sqlite", "postgres", "postgresql"):
        raise ImproperlyConfigured(f"{name} must name SQLite or PostgreSQL: sqlite:///path, postgres://user@host/name.")
    return dict(environ.Env.db_url_config(url))


class MailServer(NamedTuple):
    """By which mail is sent; has_tls: from the start, where it is not begun by STARTTLS."""

    host: str
    port: int
    user: str
    password: str
    starts_tls: bool
    has_tls: bool
    sender: str


_MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


def mail_server(name: str, env: Mapping[str, str] = os.environ) -> MailServer | None:
    """Return the mail server that a URL names, and whom mails are from; None where it is not set."""
    value = text(name, "", env)
    if not value:
        return None
    parts = urlsplit(value)
    sender = parse_qs(parts.query).get("from", [])
    if parts.scheme not in _MAIL_PORTS or not parts.hostname or len(sender) != 1:
        raise ImproperlyConfigured(
            f"{name} must be like smtp+tls://user:password@mail.example.org:587?from=assay@example.org, "
            "with smtp+tls, smtps or smtp."
        )
    return MailServer(
        parts.hostname,
        parts.port or _MAIL_PORTS[parts.scheme],
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        parts.scheme == "smtp+tls",
        parts.scheme == "smtps",
        sender[0],
    )


class ObjectStorage(NamedTuple):
    """A bucket of an S3-compatible server; prefix: empty, or ends with a slash."""

    bucket: str
    prefix: str
    endpoint: str | None
    region: str | None


_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX = re.compile(r"(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?")
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


def object_storage(name: str, env: Mapping[str, str] = os.environ) -> ObjectStorage | None:
    """Return the bucket that a URL names; None where it is not set. The keys to it are in variables of their own."""
    value = text(name, "", env)
    if not value:
        return None
    parts = urlsplit(value)
    more = parse_qs(parts.query, keep_blank_values=True)
    endpoint, region = (more.pop(key, [""]) for key in ("endpoint", "region"))
    is_sound = _BUCKET.fullmatch(parts.netloc) and _PREFIX.fullmatch(parts.path) and len(endpoint) == len(region) == 1
    if parts.scheme != "s3" or not is_sound or more or parts.fragment or not _is_endpoint(endpoint[0]):
        raise ImproperlyConfigured(
            f"{name} must be like s3://bucket/prefix?endpoint=https://s3.example.org&region=eu-central-1, "
            f"without keys: these are {' and '.join(_KEYS)}."
        )
    if len(given := [key for key in _KEYS if text(key, "", env)]) == 1:
        raise ImproperlyConfigured(f"{name} needs both {' and '.join(_KEYS)}; only {given[0]} is set.")
    if not (find_spec("storages") and find_spec("boto3")):
        raise ImproperlyConfigured(f"{name} needs further packages: pip install -r requirements-s3.txt, or assay[s3].")
    prefix = parts.path.strip("/")
    return ObjectStorage(parts.netloc, f"{prefix}/" if prefix else "", endpoint[0] or None, region[0] or None)


def storage_of(folder: str, place: ObjectStorage | None) -> dict[str, Any]:
    """Return Django's settings of a folder in a bucket, or else in the data folder."""
    if place is None:
        return {"BACKEND": "assessor.runtime.storage.DataFolder", "OPTIONS": {"folder": folder}}
    bucket, prefix, endpoint, region = place
    options = {"bucket_name": bucket, "location": prefix + folder, "endpoint_url": endpoint, "region_name": region}
    return {"BACKEND": "assessor.runtime.object_storage.ObjectStorage", "OPTIONS": options}


def _is_endpoint(value: str) -> bool:
    parts = urlsplit(value)
    plain = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    return not value or bool(plain and parts.path in ("", "/") and not parts.query and not parts.fragment)


_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


def cannot_be_overheard(scheme: str, host: str | None) -> bool:
    """Say whether what is sent to an address is encrypted, or stays on this machine."""
    return scheme == "https" or (scheme == "http" and host in _THIS_MACHINE)


def issuer(name: str, env: Mapping[str, str] = os.environ) -> str:
    """Return the address of a provider of sign-ins, exactly as it writes it itself; empty where it is not set."""
    value = text(name, "", env)
    parts = urlsplit(value)
    is_safe = cannot_be_overheard(parts.scheme, parts.hostname)
    if value and (not is_safe or not parts.hostname or parts.query or parts.fragment or len(value) > 200):
        raise ImproperlyConfigured(
            f"{name} must be like https://sso.example.org/realms/trec, of at most 200 characters."
        )
    return value
