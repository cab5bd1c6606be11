"""The active time of the last days, which paces are taken from."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Min, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from assessor.campaigns.models import Campaign
from assessor.runtime.process_cache import cache
from assessor.work.models import Task, TimeSpent

DAYS = 7  # that a pace is taken from


class Recent(NamedTuple):
    """Active seconds of the last days by task's key, in all and on each day, the latest first; since when."""

    seconds: dict[int, int]
    since: datetime | None
    by_day: dict[int, list[int]]


def recent_time(campaign: Campaign) -> Recent:
    """Return the active time of the last days; added up once a minute, since everybody at work reports each half."""
    now = timezone.now()
    key = f"pace.{campaign.pk}.{now:%Y%m%d%H%M}"
    return cache.get_or_set(key, lambda: _recent_time(campaign, now), 90) or Recent({}, None, {})


def _recent_time(campaign: Campaign, now: datetime) -> Recent:
    tasks = campaign.tasks.filter(topic__is_practice=False).exclude(state=Task.State.WITHDRAWN)
    times = TimeSpent.objects.filter(at__gte=now - timedelta(days=DAYS), task__in=tasks).order_by().values("task")
    on_days = {f"day{day}": _seconds_on(day, now) for day in range(DAYS)}
    rows = list(times.annotate(first=Min("at"), **on_days))
    by_day = {row["task"]: [row[name] for name in on_days] for row in rows}
    since = min((row["first"] for row in rows), default=None)
    return Recent({task: sum(days) for task, days in by_day.items()}, since, by_day)


def _seconds_on(day: int, now: datetime) -> Coalesce:
    """Add up the seconds of a day: the last 24 hours are day 0, the 24 before them day 1."""
    until = {"at__lt": now - timedelta(days=day)} if day else {}
    return Coalesce(Sum("seconds", filter=Q(at__gte=now - timedelta(days=day + 1), **until)), 0)
