"""How fast people work: what was done over the last days, and when all will be done at that pace.

The expected end is a range, from the spread of the days: its earliest day is that of the pace without the poorest of
the days, its latest that of the pace without the best one. Of a single day there is no spread, and both are the same.
Nothing is extrapolated before there are LEAST_SECONDS (30 minutes) of active time in these days.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from math import ceil
from typing import NamedTuple

from django.utils import timezone

from assessor.plan.hours import LEAST_SECONDS
from assessor.plan.recent_time import DAYS, Recent
from assessor.work.models import Task
from assessor.work.queries import Counted


class Pace(NamedTuple):
    """What was done over the last days: items in so many active seconds, and items on each day, the latest first."""

    seconds: int
    daily: Sequence[float]

    @property
    def is_known(self) -> bool:
        """Whether there was enough active time to tell a pace by."""
        return self.seconds >= LEAST_SECONDS

    @property
    def items(self) -> float:
        return sum(self.daily)

    @property
    def per_day(self) -> float:
        return self.items / len(self.daily) if self.daily else 0.0

    @property
    def slow(self) -> float:
        """Items a day without the best of the days."""
        return self._without(max)

    @property
    def fast(self) -> float:
        """Items a day without the poorest of the days."""
        return self._without(min)

    def _without(self, which: Callable[[Sequence[float]], float]) -> float:
        days = len(self.daily)
        return (self.items - which(self.daily)) / (days - 1) if days > 1 else self.per_day

    @property
    def per_hour(self) -> float | None:
        """Items in an hour of active time; None where the pace isn't known."""
        return 3600 * self.items / self.seconds if self.is_known else None


def days_of(tasks: Iterable[Counted], recent: Recent) -> int:
    """Return over how many days a pace is taken: fewer than DAYS where all the work began after that."""
    if recent.since is None or sum(task.seconds for task in tasks) > sum(recent.seconds.values()):
        return DAYS
    return max(1, ceil((timezone.now() - recent.since) / timedelta(days=1)))


def pace_of(tasks: Iterable[Counted], recent: Recent, days: int, *, in_topics: bool) -> Pace:
    """Return at which pace tasks get done.

    When each item was done is not asked: a day has that share of a task's items which it has of the task's time.
    in_topics: whole topics are counted instead, once they are finished. Tasks whose items somebody else began tell no
    pace.
    """
    daily, seconds = [0.0] * days, 0
    for task in tasks:
        if (spent := recent.seconds.get(task.pk)) and not task.handed_over:
            done = (task.state == Task.State.FINISHED) if in_topics else task.done
            whole = max(task.seconds, spent)
            for day, on_day in enumerate(recent.by_day[task.pk][:days]):
                daily[day] += done * on_day / whole
            seconds += spent
    return Pace(seconds, daily)


NOT_KNOWN = "not known yet"
TOO_EARLY = f"no estimate yet: less than {LEAST_SECONDS // 60} minutes of active time"


class Ends(NamedTuple):
    """The days between which work is expected to be done; None where that can't be known."""

    earliest: date | None
    latest: date | None


def expected_ends(left: float, pace: Pace) -> Ends:
    """Return when so many items will be done, from the paces without the poorest and without the best day."""
    if not left:
        return Ends(timezone.localdate(), timezone.localdate())
    if not pace.is_known:
        return Ends(None, None)
    return Ends(_end(left, pace.fast), _end(left, pace.slow))


def _end(left: float, per_day: float) -> date | None:
    if per_day <= left / 36_500:  # further away than a calendar reaches
        return None
    return timezone.localdate() + timedelta(days=ceil(left / per_day))


def last_end(ends: Sequence[date | None]) -> date | None:
    """Return when the last of several parts will be done, or None where that of one can't be known."""
    known = [end for end in ends if end]
    return max(known) if known and len(known) == len(ends) else None
