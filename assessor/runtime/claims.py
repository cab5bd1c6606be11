"""Work that waits in the database: done by one process at a time, and again if that dies.

For records of models with state, owner, alive_at and attempts, some of whose states are "waiting" and "running".
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.models import F, Model, QuerySet

from assessor.runtime.clock import shared_now
from assessor.runtime.connections import AWAY
from assessor.runtime.processes import is_alive, me

MAX_ATTEMPTS = 3  # at work whose process dies or whose database goes away
_WAITING, _RUNNING = "waiting", "running"

# What this process is at, by model.
_at_work: dict[type[Model], set[int]] = defaultdict(set)


def begun() -> dict[str, Any]:
    """Return the columns of what this process begins now."""
    return {"state": _RUNNING, "owner": me(), "alive_at": shared_now()}


def claim(record: Any, **columns: Any) -> bool:
    """Take a record that waits, and read it anew. Return False where it didn't wait any more."""
    waiting = type(record)._default_manager.filter(pk=record.pk, state=_WAITING)
    claimed = waiting.update(**begun(), attempts=F("attempts") + 1, **columns)
    record.refresh_from_db()
    return bool(claimed)


def mine(record: Any) -> QuerySet[Any]:
    """Return a record if it runs, and in this process: not if it was stopped, or another one took this for dead."""
    rows: QuerySet[Any] = type(record)._default_manager.filter(pk=record.pk, state=_RUNNING, owner=me())
    return rows


def hold(record: Model) -> None:
    """Say that this process is at a record, for left_behind()."""
    _at_work[type(record)].add(record.pk)


def let_go(record: Model) -> None:
    """Say that this process is at a record no more."""
    _at_work[type(record)].discard(record.pk)


@contextmanager
def held(record: Model) -> Iterator[None]:
    """Hold a record, and let it go at the end."""
    hold(record)
    try:
        yield
    finally:
        let_go(record)


def waits_again(record: Any, error: BaseException, *, may_wait: bool = True, **columns: Any) -> bool:
    """Have what failed wait for another attempt if its database was away and it has one left; say whether."""
    if not connection.in_atomic_block:
        connection.close()  # it may be the connection that broke
    is_again = may_wait and isinstance(error, AWAY) and record.attempts < MAX_ATTEMPTS
    if is_again:
        mine(record).update(state=_WAITING, **columns)
    return is_again


def left_behind(model: type[Model]) -> Iterator[tuple[Any, QuerySet[Any]]]:
    """Yield each record that runs in no process any more, with the rows that are it while nobody else takes it up."""
    running: Any = model._default_manager.filter(state=_RUNNING)
    for record in running.all():
        if not (record.pk in _at_work[model] if record.owner == me() else is_alive(record)):
            yield record, running.filter(pk=record.pk, owner=record.owner)
