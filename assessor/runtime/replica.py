"""Reading from a replica of the database, where there is one: never less than was committed before."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections

from assessor.runtime.connections import AWAY

ALIAS = "replica"
_PATIENCE = 2.0  # seconds for the replica to catch up
_REST = 30.0  # seconds until one that failed is asked again
_AT_A_TIME = 500
_DATABASE = """
    (SELECT system_identifier FROM pg_control_system()),
    (SELECT timeline_id FROM pg_control_checkpoint()),
    current_database()
"""
# All that others can see is flushed; where commits don't wait for that, it is inserted.
_COMMITTED = f"""
    SELECT {_DATABASE}, CASE current_setting('synchronous_commit')
        WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END
"""
_REPLAYED = f"SELECT {_DATABASE}, pg_is_in_recovery(), pg_last_wal_replay_lsn() >= %s"
_log = logging.getLogger(__name__)
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


class _Replica:
    """What this process knows of it."""

    rests_until = 0.0  # by time.monotonic()

    def fails(self, why: object) -> None:
        """Leave it alone for a while; say so in the log when it begins."""
        if not self.rests_until:
            _log.warning("The replica is not read: %s", why)
        self.rests_until = time.monotonic() + _REST
        connections[ALIAS].close()

    def works(self) -> None:
        if self.rests_until:
            _log.info("The replica is read again.")
        self.rests_until = 0.0


_replica = _Replica()


def is_read() -> bool:
    """Say whether this thread's queries go to the replica."""
    return bool(connection.alias == ALIAS)


def read(reading: Callable[_Given, _Found], *args: _Given.args, **more: _Given.kwargs) -> _Found:
    """Return what a function returns, all of whose queries go to the replica, if it has what is committed by now.

    The function may be called again, on the primary, if the replica goes away. What it writes is written by
    on_primary(), or PostgreSQL refuses it.
    """
    if ALIAS in connections and not is_read() and not connection.in_atomic_block and _has_caught_up():
        try:
            with _exchanged():
                return reading(*args, **more)
        except AWAY as error:
            _replica.fails(error)
    return reading(*args, **more)


def read_on(rows: Iterator[_Found]) -> Iterator[_Found]:
    """Return rows that are read later, from where this thread reads now."""
    return _from_replica(rows) if is_read() else rows


def _from_replica(rows: Iterator[_Found]) -> Iterator[_Found]:
    some = None
    while some != []:
        try:
            with _exchanged():
                some = list(islice(rows, _AT_A_TIME))
        except AWAY as error:
            _replica.fails(error)
            raise
        yield from some


@contextmanager
def on_primary() -> Iterator[None]:
    """Have this thread's queries go to the primary, also within read()."""
    if is_read():
        with _exchanged():
            yield
    else:
        yield


@contextmanager
def _exchanged() -> Iterator[None]:
    """Exchange this thread's connections to the primary and to the replica."""
    default, replica = connections[DEFAULT_DB_ALIAS], connections[ALIAS]
    connections[DEFAULT_DB_ALIAS], connections[ALIAS] = replica, default
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS], connections[ALIAS] = default, replica


def _has_caught_up() -> bool:
    """Wait until the replica has all that is committed by now; return False where it takes too long, or is none."""
    if time.monotonic() < _replica.rests_until:
        return False
    with connection.cursor() as cursor:
        cursor.execute(_COMMITTED)
        *database, committed = cursor.fetchone()
    ends = time.monotonic() + _PATIENCE
    try:
        with connections[ALIAS].cursor() as cursor:
            while time.monotonic() < ends:
                cursor.execute(_REPLAYED, [committed])
                *found, is_replica, has_all = cursor.fetchone()
                if not is_replica or found != database:
                    _replica.fails("ASSAY_REPLICA_URL names no replica of this database.")
                    return False
                if has_all:
                    _replica.works()
                    return True
                time.sleep(0.01)
        _replica.fails(f"It is more than {_PATIENCE:g} seconds behind.")
    except AWAY as error:
        _replica.fails(error)
    return False
