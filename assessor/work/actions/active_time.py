"""The writer of active time."""

from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, IntegerField
from django.utils import timezone

from assessor.runtime.sql import Parameter
from assessor.work.models import Task, TimeSpent
from assessor.work.write_protocol import SignOfWork

MAX_SECONDS = 120  # the browser reports every half minute
_SECONDS = SignOfWork(Task.objects.all(), seconds=F("seconds") + Parameter("seconds", IntegerField()))


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
            _SECONDS.carry_out(task=task.pk, seconds=counted)
    except IntegrityError:
        return  # sent twice
