"""What workers take up: what waits in the database, of which the queue may have lost its hint."""

from collections.abc import Callable
from typing import Any

from billiard.exceptions import WorkerLostError
from celery.signals import task_failure, worker_ready
from django.db import close_old_connections

from assessor.runtime.connections import leave_connections


def at_start_and_after_deaths(take_up: Callable[[], object]) -> None:
    """Have each worker take up what was left: when it starts, and when one of its child processes was killed."""

    def at_start(**kwargs: Any) -> None:
        close_old_connections()
        take_up()
        leave_connections()  # in the process from which later children are forked

    def after_a_death(exception: BaseException | None = None, **kwargs: Any) -> None:
        if isinstance(exception, WorkerLostError):  # the worker itself goes on
            at_start()

    # Signals hold weakly what they call, and nobody else holds these.
    worker_ready.connect(at_start, weak=False)
    task_failure.connect(after_a_death, weak=False)
