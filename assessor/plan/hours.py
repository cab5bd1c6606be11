"""How long work will take, from how long such work took: pure functions, without a database."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from statistics import median, quantiles
from typing import NamedTuple

HOUR = 3_600
# Seconds for a topic, as published for the track of 2024; until something is measured here.
PUBLISHED = {"AutoNuggets+Edits": 1.0 * HOUR, "ManualNuggets": 2.5 * HOUR}
LEAST_SECONDS = 1_800  # of active time, below which nothing is extrapolated
# Of fewer tasks the upper quartile lies beside the longest one, which would move it and so hide itself.
LEAST_FOR_OUTLIERS = 5


class Measured(NamedTuple):
    """A finished task: its active seconds, and how many items were done."""

    seconds: int
    items: int


class Work(NamedTuple):
    """A piece of work that is to be done: whose, and under which condition, by keys.

    items: how many are left; None where that is not known, or not what its time depends on. spent: seconds so far.
    """

    person: int
    condition: int
    items: int | None
    spent: int


class Pace(NamedTuple):
    """How long work under a condition takes, in seconds for a topic and for an item; the latter is None for a topic's.

    tasks: how many were measured; 0: it is the published figure.
    """

    topic: float
    item: float | None
    tasks: int


def pace(method: str, finished: Sequence[Measured], *, by_item: bool) -> Pace | None:
    """Return the medians of what was measured, else what is published, else None: nothing is guessed.

    What was measured counts once it is LEAST_SECONDS in all.
    """
    published = Pace(PUBLISHED[method], None, 0) if method in PUBLISHED else None
    return published if is_too_early(finished) else measured(finished, by_item=by_item) or published


def is_too_early(finished: Iterable[Measured]) -> bool:
    """Say whether too little time was measured to extrapolate from."""
    return sum(one.seconds for one in finished) < LEAST_SECONDS


def measured(finished: Sequence[Measured], *, by_item: bool) -> Pace | None:
    """Return the medians of tasks on which time was spent, None where there is none.

    by_item: whether the time depends on the number of items.
    """
    told = [one for one in finished if one.seconds and (one.items or not by_item)]
    return Pace(median(one.seconds for one in told), per_item(told) if by_item else None, len(told)) if told else None


def per_item(finished: Iterable[Measured]) -> float | None:
    """Return the median over tasks of the seconds that an item took, None where none has both time and items."""
    told = [one.seconds / one.items for one in finished if one.seconds and one.items]
    return median(told) if told else None


def longest_usual(finished: Sequence[Measured]) -> float | None:
    """Return the seconds above which a task is an outlier; None where too few are finished to say.

    By Tukey's rule: one and a half times the distance between the quartiles above the upper one. Quartiles lie between
    two times where no time lies on them.
    """
    told = [one.seconds for one in finished if one.seconds]
    if len(told) < LEAST_FOR_OUTLIERS:
        return None
    lower, _, upper = quantiles(told, method="inclusive")
    return upper + 1.5 * (upper - lower)


def seconds_of(work: Work, known: Pace | None) -> float | None:
    """Return how long a piece of work will take from now on; None where nobody can say."""
    if known is None:
        return None
    if known.item is not None and work.items is not None:
        return known.item * work.items
    return max(0.0, known.topic - work.spent)


class Load(NamedTuple):
    """What is to be done. seconds: of what is known; unknown: pieces of work of which nobody can say."""

    seconds: float
    pieces: int
    unknown: int


def loads(works: Iterable[Work], paces: Mapping[int, Pace | None]) -> dict[int, Load]:
    """Return what each person has to do, by key. paces: by condition's key."""
    found: dict[int, Load] = {}
    for work in works:
        seconds = seconds_of(work, paces.get(work.condition))
        before = found.get(work.person, Load(0, 0, 0))
        found[work.person] = Load(
            before.seconds + (seconds or 0), before.pieces + 1, before.unknown + (seconds is None)
        )
    return found


def total(of: Iterable[Load]) -> Load:
    """Return what all have to do."""
    every = list(of)
    return Load(sum(one.seconds for one in every), sum(one.pieces for one in every), sum(one.unknown for one in every))


WEEKS = 12  # to come, beyond which nothing is told


class Week(NamedTuple):
    """A week to come: from when, and the seconds of given and of other work that are done in it."""

    start: date
    given: float
    free: float


def weeks(given: float, free: float, a_week: float, start: date) -> list[Week]:
    """Return the weeks, from a day on, in which work gets done at so many seconds a week: what is given first.

    It is empty where nobody worked. The last of WEEKS may leave something undone.
    """
    found: list[Week] = []
    while a_week > 0 and given + free > 0 and len(found) < WEEKS:
        now = min(given, a_week)
        beside = min(free, a_week - now)
        found.append(Week(start + timedelta(weeks=len(found)), now, beside))
        given, free = given - now, free - beside
    return found
