"""Reading the environment: every helper refuses what it does not understand."""

import os
from collections.abc import Collection, Mapping
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
