"""How fast people get on: what was done over the last days, and when it will all be done if they go on like that."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from math import ceil
from typing import NamedTuple

from django.db.models import Min, Sum
from django.utils import timezone

from assessor.campaigns.models import Campaign
from assessor.plan.hours import LEAST_SECONDS
from assessor.runtime.process_cache import cache
from assessor.work.models import Task, TimeSpent
from assessor.work.queries import Counted

DAYS = 7  # that a pace is taken from


class Recent(NamedTuple):
    """Active seconds of the last days by task's key, and since when people were at work in them."""

    seconds: dict[int, int]
    since: datetime | None


class Pace(NamedTuple):
    """What was done over the last days: items in so many active seconds, and items a day."""

    items: float
    seconds: int
    per_day: float

    @property
    def is_known(self) -> bool:
        """Whether there was enough active time to tell a pace by."""
        return self.seconds >= LEAST_SECONDS

    @property
    def per_hour(self) -> float | None:
        """Items in an hour of active time; None where the pace isn't known."""
        return 3600 * self.items / self.seconds if self.is_known else None


def recent_time(campaign: Campaign) -> Recent:
    """Return the active time of the last days; added up once a minute, since everybody at work reports each half."""
    now = timezone.now()
    key = f"pace.{campaign.pk}.{now:%Y%m%d%H%M}"
    return cache.get_or_set(key, lambda: _recent_time(campaign, now), 90) or Recent({}, None)


def _recent_time(campaign: Campaign, now: datetime) -> Recent:
    tasks = campaign.tasks.filter(topic__is_practice=False).exclude(state=Task.State.WITHDRAWN)
    times = TimeSpent.objects.filter(at__gte=now - timedelta(days=DAYS), task__in=tasks)
    rows = list(times.order_by().values_list("task").annotate(Sum("seconds"), Min("at")))
    return Recent({task: seconds for task, seconds, _ in rows}, min((first for *_, first in rows), default=None))


def days_of(tasks: Iterable[Counted], recent: Recent) -> int:
    """Return over how many days a pace is taken: fewer than DAYS where all the work began after that."""
    if recent.since is None or sum(task.seconds for task in tasks) > sum(recent.seconds.values()):
        return DAYS
    return max(1, ceil((timezone.now() - recent.since) / timedelta(days=1)))


def pace_of(tasks: Iterable[Counted], recent: Recent, days: int, *, in_topics: bool) -> Pace:
    """Return at which pace tasks get done.

    When each item was done is not asked: of a task's items so many count as its time of these days is a share of all
    its time. in_topics: whole topics are counted instead, once they are finished. Tasks whose items somebody else began
    tell no pace.
    """
    items, seconds = 0.0, 0
    for task in tasks:
        if (spent := recent.seconds.get(task.pk)) and not task.handed_over:
            done = (task.state == Task.State.FINISHED) if in_topics else task.done
            items += done * min(1.0, spent / (task.seconds or spent))
            seconds += spent
    return Pace(items, seconds, items / days)


NOT_KNOWN = "not known yet"
TOO_EARLY = f"too early to tell: less than {LEAST_SECONDS // 60} minutes of active time"


def expected_end(left: float, pace: Pace) -> date | None:
    """Return on which day so many items will be done at a pace, or None where that can't be known."""
    if not left:
        return timezone.localdate()
    # Further away than a calendar reaches is not known either.
    if not pace.is_known or pace.per_day <= left / 36_500:
        return None
    return timezone.localdate() + timedelta(days=ceil(left / pace.per_day))


def last_end(ends: Sequence[date | None]) -> date | None:
    """Return when the last of several parts will be done, or None where that of one can't be known."""
    known = [end for end in ends if end]
    return max(known) if known and len(known) == len(ends) else None
