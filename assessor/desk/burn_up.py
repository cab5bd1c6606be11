"""Burn-up of a step: what was done by which day, and where it is expected to end, as lines of a drawing.

When each item was done is not kept: a day has that share of a task's items which it has of the task's active time. Of
what is counted in topics the day is known on which each was last worked on.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import NamedTuple

from django.db.models import Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from assessor.campaigns.models import Campaign
from assessor.desk.pace import Ends
from assessor.runtime.process_cache import cache
from assessor.work.models import Task, TimeSpent
from assessor.work.queries import Counted

LEFT, RIGHT, TOP, BOTTOM = 3, 247, 16, 96  # of the drawing
_A_DAY = 86_400

Seconds = Mapping[int, Mapping[date, int]]  # active seconds of each day, by task's key


def seconds_by_day(campaign: Campaign) -> Seconds:
    """Return the active time of all days before today; added up once a day."""
    today = timezone.localdate()
    key = f"burn-up.{campaign.pk}.{today}.{timezone.get_current_timezone_name()}"
    return cache.get_or_set(key, lambda: _seconds_by_day(campaign, today), _A_DAY) or {}


def _seconds_by_day(campaign: Campaign, today: date) -> Seconds:
    times = TimeSpent.objects.filter(task__in=campaign.tasks.filter(topic__is_practice=False))
    found: dict[int, dict[date, int]] = defaultdict(dict)
    rows = times.annotate(day=TruncDate("at")).order_by().values_list("task", "day").annotate(Sum("seconds"))
    for task, day, seconds in rows:
        if day < today:
            found[task][day] = seconds
    return dict(found)


def done_by_day(tasks: Iterable[Counted], seconds: Seconds, *, in_topics: bool) -> dict[date, float]:
    """Return how much was done on each day."""
    found: dict[date, float] = defaultdict(float)
    for task in tasks:
        days = seconds.get(task.pk, {})
        if in_topics or not days:
            done = (task.state == Task.State.FINISHED) if in_topics else task.done
            if done:
                found[timezone.localdate(task.worked_at or task.created_at)] += done
            continue
        whole = max(task.seconds, sum(days.values()))
        for day, spent in days.items():
            found[day] += task.done * spent / whole
    return dict(found)


class BurnUp(NamedTuple):
    """A drawing: the line of what was done, those to the earliest and latest end, and where today is."""

    line: str
    ends: list[tuple[float, float]]  # x and y, from today on
    today: float
    height: float  # of what is done
    start: date


def burn_up(daily: Mapping[date, float], done: float, whole: float, ends: Ends) -> BurnUp | None:
    """Draw what was done by day, towards the whole; None where nothing was done before today."""
    today = timezone.localdate()
    start = min(daily, default=today)
    if start >= today or not whole:
        return None
    past = (today - start).days
    known = [end for end in ends if end and end > today]
    # Two thirds of the drawing at most are of days to come.
    days = past + min(2 * past, max([(end - today).days for end in known], default=0))

    def place(day: float, amount: float) -> tuple[float, float]:
        return (
            round(LEFT + (RIGHT - LEFT) * day / days, 1),
            round(BOTTOM - (BOTTOM - TOP) * min(1.0, amount / whole), 1),
        )

    points, so_far = [], 0.0
    for day in range(past):
        points.append(place(day, min(so_far, done)))
        so_far += daily.get(start + timedelta(days=day), 0.0)
    now = place(past, done)
    points.append(now)
    to_come = []
    for end in dict.fromkeys(known):
        ahead = (end - today).days
        shown = min(ahead, days - past)
        to_come.append(place(past + shown, done + (whole - done) * shown / ahead))
    return BurnUp(" ".join(f"{x},{y}" for x, y in points), to_come, *now, start)
