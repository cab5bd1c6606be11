"""Carrying out what waits in the database: once, by one process, and again if that dies."""

import logging
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import connection, models
from django.utils import timezone

from assessor.runtime.processes import MAX_ATTEMPTS, can_try_again, is_at_work, me
from metaeval.models import BackgroundWork

_log = logging.getLogger(__name__)
Work = TypeVar("Work", bound=BackgroundWork)
Progress = Callable[[int, str], None]  # percent, and what is done next
# An update of the record that does nothing once another process took this one for dead: it returns how many it changed.
Update = Callable[..., int]

# What this process is at, by model.
_at_work: dict[type[BackgroundWork], set[int]] = defaultdict(set)


def carry_out(work: Work, compute: Callable[[Progress], Callable[[Update], Any]], *, nothing: type[Exception]) -> Work:
    """Compute what waits, and keep what comes of it; what doesn't wait any more is left alone.

    compute: does the work, telling its percent and stage, and returns what keeps the outcome, given the update that
    marks the record as done. nothing: what it raises where there is no outcome; the text says why.
    """
    model, state = type(work), BackgroundWork.State
    rows = model._default_manager.filter(pk=work.pk)
    claimed = rows.filter(state=state.WAITING).update(
        state=state.RUNNING, owner=me(), alive_at=timezone.now(), attempts=models.F("attempts") + 1, percent=0
    )
    work.refresh_from_db()
    if not claimed:
        return work
    mine = rows.filter(state=state.RUNNING, owner=me())

    def progress(percent: int, stage: str) -> None:
        mine.update(percent=percent, stage=stage[:120], alive_at=timezone.now())

    def done(**outcome: Any) -> int:
        return mine.update(state=state.DONE, percent=100, stage="", ended_at=timezone.now(), **outcome)

    _at_work[model].add(work.pk)
    try:
        keep = compute(progress)
        progress(95, "writing")
        keep(done)
    except nothing as told:
        mine.update(state=state.EMPTY, why=str(told), ended_at=timezone.now(), stage="")
    except Exception as error:
        if not connection.in_atomic_block:
            connection.close()  # it may be the connection that broke
        _log.exception("%s %s failed", model.__name__, work.pk)
        if can_try_again(work, error):
            mine.update(state=state.WAITING, stage="")
        else:
            why = f"{type(error).__name__}: {error}"
            mine.update(state=state.FAILED, why=why, ended_at=timezone.now(), stage="")
    finally:
        _at_work[model].discard(work.pk)
    work.refresh_from_db()
    return work


def sweep(model: type[BackgroundWork]) -> list[int]:
    """Have work wait again whose process died, three times at most; return the keys of all that waits."""
    state, records = BackgroundWork.State, model._default_manager
    for running in records.filter(state=state.RUNNING):
        if is_at_work(running, _at_work[model]):
            continue
        same = records.filter(pk=running.pk, state=state.RUNNING, owner=running.owner)
        if running.attempts < MAX_ATTEMPTS:
            same.update(state=state.WAITING)
        else:
            why = f"its process died {MAX_ATTEMPTS} times"
            same.update(state=state.FAILED, why=why, ended_at=timezone.now())
    return list(records.filter(state=state.WAITING).values_list("pk", flat=True))
