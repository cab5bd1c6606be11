"""Reading the environment: every helper refuses what it does not understand."""

import os
from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def flag(name: str, default: bool, env: Mapping[str, str] = os.environ) -> bool:
    """Return a yes/no variable; anything but a plain yes or no is refused."""
    value = env.get(name, "").strip().lower()
    if not value:
        return default
    if value in _TRUE | _FALSE:
        return value in _TRUE
    raise ImproperlyConfigured(f"{name} is {value!r}; it must be one of 1, 0, true, false, yes, no, on, off.")


def number(name: str, default: int, env: Mapping[str, str] = os.environ) -> int:
    """Return a whole number of at least 1."""
    value = env.get(name, "").strip()
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or int(value) < 1:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a whole number of at least 1.")
    return int(value)


def choice(name: str, among: tuple[str, ...], env: Mapping[str, str] = os.environ) -> str:
    """Return one of several words; the first where nothing is set."""
    value = env.get(name, "").strip() or among[0]
    if value not in among:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be one of {', '.join(among)}.")
    return value


def words(name: str, default: str, env: Mapping[str, str] = os.environ) -> list[str]:
    """Return a comma-separated list without blanks, without an empty entry; empty where the default is."""
    if not (env.get(name, "").strip() or default):
        return []
    entries = [entry.strip() for entry in (env.get(name, "").strip() or default).split(",")]
    if not all(entries):
        raise ImproperlyConfigured(f"{name} has an empty entry; write a,b,c.")
    return entries
