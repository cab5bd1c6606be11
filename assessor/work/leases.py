"""Who has a drawn topic: a lease that each sign of work begins anew, and that runs out without anybody noticing."""

from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from assessor.work.models import Task, Waiting


def lapsed() -> Q:
    """Return the condition that a task's topic can be drawn by somebody else.

    Not one of which everything is said: all that it lacks is its person's word that it is done. Nor a paused one.
    """
    all_said = Q(total__gt=0, done=F("total"))
    return Q(state=Task.State.OPEN, paused=False, leased_until__lte=timezone.now()) & ~all_said


def free() -> QuerySet[Any]:
    """Return the topics that can be drawn: first those that nobody has begun, each part in the order it was put in."""
    same = Task.objects.filter(condition=OuterRef("condition"), topic=OuterRef("topic"))
    has_lapsed = Exists(same.filter(lapsed()))
    held = same.exclude(state=Task.State.WITHDRAWN).filter(Q(leased_until=None) | ~lapsed())
    return Waiting.objects.filter(~Exists(held)).annotate(has_lapsed=has_lapsed).order_by("has_lapsed", "pk")
