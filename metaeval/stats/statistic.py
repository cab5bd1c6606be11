"""A statistic: a number, or the reason why there is none."""

from typing import NamedTuple


class Statistic(NamedTuple):
    """A number over n things (pairs, runs, topics, cells). value is None where it is undefined, and why says why."""

    value: float | None
    n: int
    why: str = ""


def undefined(n: int, why: str) -> Statistic:
    """Return a statistic that n things leave undefined."""
    return Statistic(None, n, why)
