"""What a statistic is: a number, or the reason why there is none."""

from typing import NamedTuple


class Value(NamedTuple):
    """A statistic over n things (pairs, runs, topics, cells); value is None where it is undefined, and why says why."""

    value: float | None
    n: int
    why: str = ""


def undefined(n: int, why: str) -> Value:
    """Return a statistic that n things leave undefined."""
    return Value(None, n, why)
