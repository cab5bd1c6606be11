"""Background work on comparisons: ids in. The database says what waits; a message is only a hint to look."""

from typing import Any

from billiard.exceptions import WorkerLostError
from celery import shared_task
from celery.signals import task_failure, worker_ready
from django.db import close_old_connections

from assessor.connections import leave_connections
from metaeval import actions
from metaeval.models import Calculation


@shared_task
def calculate(calculation_id: int) -> None:
    """Compute a comparison, unless it is being computed or over."""
    actions.run(Calculation.objects.select_related("comparison__campaign").get(pk=calculation_id))


def take_up() -> None:
    """Send hints for all that waits, and for what a dead process left."""
    for pk in actions.sweep():
        calculate.delay(pk)


@worker_ready.connect
def take_up_at_start(**kwargs: Any) -> None:
    """Take up what a killed worker left: the queue may have lost its hint."""
    close_old_connections()
    take_up()
    leave_connections()  # in the process from which later children are forked


@task_failure.connect
def take_up_what_a_killed_child_left(exception: BaseException | None = None, **kwargs: Any) -> None:
    """The worker goes on when one of its child processes is killed."""
    if isinstance(exception, WorkerLostError):
        close_old_connections()
        take_up()
        leave_connections()
