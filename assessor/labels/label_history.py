"""Steps on the way of a label, and how they are worded."""

from datetime import datetime
from typing import Any, NamedTuple


class Step(NamedTuple):
    """Something that happened: when, by whom or what, and, where there is a page that tells more, its address."""

    at: datetime | None
    who: str
    what: str
    address: str = ""


def name(person: object) -> str:
    """Return who did something, or that nobody here did."""
    return str(person) if person else "system"


def who_said(revision: Any) -> str:
    """Return whose or what's revision of a sheet it is."""
    return str(revision.judge or (revision.task.person if revision.task else "system"))


def told(changes: Any) -> str:
    """Return what stood before and after, in words."""
    if not isinstance(changes, dict):
        return ""
    pairs = [(field, pair) for field, pair in changes.items() if isinstance(pair, list) and len(pair) == 2]
    return "".join(f"; {field} {_value(before)} → {_value(after)}" for field, (before, after) in pairs)


def _value(value: object) -> str:
    return "—" if value in (None, "", [], {}) else str(value)


def read(record: Any) -> str:
    """Return under which guidelines something was said, if anybody had to read any."""
    return f"; guidelines v{record.guidelines_version}" if record.guidelines_version else ""
