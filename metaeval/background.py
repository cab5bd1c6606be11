"""Carrying out what waits in the database: once, by one process, and again if that dies."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from django.utils import timezone

from assessor.runtime import hints, replica
from assessor.runtime.claims import MAX_ATTEMPTS, claim, held, left_behind, mine, waits_again
from assessor.runtime.clock import shared_now
from assessor.runtime.commits import after_commit
from metaeval.models import BackgroundWork, Calculation, CalibrationRequest

_log = logging.getLogger(__name__)
Work = TypeVar("Work", bound=BackgroundWork)
# The task for each kind of work, by its path: what only asks for it need not load Celery.
TASKS: dict[type[BackgroundWork], str] = {
    Calculation: "metaeval.tasks.calculate",
    CalibrationRequest: "metaeval.tasks.calibrate",
}
Progress = Callable[[int, str], None]  # percent, and what is done next
# An update of the record that does nothing once another process took this one for dead: it returns how many it changed.
Update = Callable[..., int]


def carry_out(work: Work, compute: Callable[[Progress], Callable[[Update], Any]], *, nothing: type[Exception]) -> Work:
    """Compute what waits, and keep what comes of it; what doesn't wait any more is left alone.

    compute: does the work, telling its percent and stage, and returns what keeps the outcome, given the update that
    marks the record as done; it reads from the replica, if there is one. nothing: what it raises where there is no
    outcome; the text says why.
    """
    state = BackgroundWork.State
    if not claim(work, percent=0):
        return work

    def progress(percent: int, stage: str) -> None:
        with replica.on_primary():
            mine(work).update(percent=percent, stage=stage[:120], alive_at=shared_now())

    def ended(**outcome: Any) -> int:
        return mine(work).update(**outcome, ended_at=timezone.now(), stage="")

    with held(work):
        try:
            keep = replica.read(compute, progress)
            progress(95, "writing")
            keep(partial(ended, state=state.DONE, percent=100))
        except nothing as told:
            ended(state=state.EMPTY, why=str(told))
        except Exception as error:
            _log.exception("%s %s failed", type(work).__name__, work.pk)
            if not waits_again(work, error, stage=""):
                ended(state=state.FAILED, why=f"{type(error).__name__}: {error}")
    work.refresh_from_db()
    return work


def send_hint(work: BackgroundWork) -> None:
    """Tell the worker, once it is committed. Should the queue be gone, the next start of one finds it waiting."""
    after_commit(hints.send, TASKS[type(work)], work.pk)


def sweep(model: type[BackgroundWork]) -> list[int]:
    """Have work wait again whose process died, three times at most; return the keys of all that waits."""
    state = BackgroundWork.State
    for work, same in left_behind(model):
        if work.attempts < MAX_ATTEMPTS:
            same.update(state=state.WAITING)
        else:
            why = f"its process died {MAX_ATTEMPTS} times"
            same.update(state=state.FAILED, why=why, ended_at=timezone.now())
    return list(model._default_manager.filter(state=state.WAITING).values_list("pk", flat=True))
