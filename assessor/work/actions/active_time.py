"""The writer of active time."""

from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from assessor.work.models import Task, TimeSpent
from assessor.work.write_protocol import sign_of_work

MAX_SECONDS = 120  # the browser reports every half minute


def record_time(*, task: Task, key: UUID, seconds: int) -> None:
    """Add active seconds to a task; a key counts once, and never more time than has passed."""
    try:
        with transaction.atomic():
            Task.objects.select_for_update(no_key=True).get(pk=task.pk)  # reports of two tabs one after the other
            last = task.times.order_by("-pk").first()  # the last by time may be of a clock that was set back
            since = task.created_at if last is None else last.at
            passed = max(timedelta(), timezone.now() - since)
            counted = min(seconds, MAX_SECONDS, int(passed.total_seconds()) + 1)
            TimeSpent.objects.create(task=task, key=key, seconds=counted)
            Task.objects.filter(pk=task.pk).update(seconds=F("seconds") + counted, **sign_of_work())
    except IntegrityError:
        return  # sent twice
