"""The key that signs sessions: the environment's, or one of its own for an installation on one machine."""

import fcntl
import os
import secrets
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from assessor.runtime.environment import text


def secret_key(folder: Path, hosts: Mapping[str, Iterable[str]], env: Mapping[str, str] = os.environ) -> str:
    """Return ASSAY_SECRET_KEY, or else the key in this folder, made here where there is none yet.

    hosts: by variable, all that the installation is reached at or reaches. One that is not this machine makes the
    variable required: the processes of two machines would sign with two keys.
    """
    if key := text("ASSAY_SECRET_KEY", default="", env=env):
        return key
    elsewhere = [f"{host} ({variable})" for variable, named in hosts.items() for host in named if not is_here(host)]
    if elsewhere:
        raise ImproperlyConfigured(
            "Set the environment variable ASSAY_SECRET_KEY: only an installation on one machine makes its own key, and"
            f" this one names {', '.join(elsewhere)}. See docs/administrator/settings.md."
        )
    return _kept_key(folder / "secret-key")


def _kept_key(path: Path) -> str:
    try:
        # Locked: of two processes that start at once, the second reads what the first wrote.
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+") as file:
            about, owners = os.fstat(file.fileno()), (os.geteuid(), path.parent.stat().st_uid)
            if about.st_uid not in owners or about.st_mode & 0o077:  # others may know it, or have put it there
                raise ImproperlyConfigured(
                    f"The key in {path} must be readable by its owner alone, who is the data folder's. Take the file"
                    " away, and another key is made, which signs everybody out; or set ASSAY_SECRET_KEY."
                )
            fcntl.flock(file, fcntl.LOCK_EX)
            key = file.read().strip()
            if not key:
                key = secrets.token_urlsafe(50)
                file.write(key)
            return key
    except OSError as error:
        raise ImproperlyConfigured(
            f"The key that signs sessions can't be kept in {path}: {error.strerror}. Set ASSAY_SECRET_KEY, or name"
            " another data folder as ASSAY_DATA_DIR."
        ) from error


def is_here(host: str) -> bool:
    """Say whether a host is this machine: a loopback address or name, a socket's path, or none."""
    if host in ("", "localhost") or host.startswith("/") or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
