"""Connections to the database across processes."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection, connections

from assessor.runtime.storage import StorageAway

# The database or the storage is gone, or its disk is full: nobody who is at work did anything wrong, and later it may
# be back.
AWAY = (OperationalError, InterfaceError, StorageAway)

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def leave_connections() -> None:
    """Close all that is open, pools too; what is needed next opens its own."""
    for one in connections.all(initialized_only=True):
        one.close()
        if one.vendor == "postgresql":
            one.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL's wrapper alone


class Aside:
    """Writes while rows are being read, on a connection of its own: a connection is a thread's.

    On the connection that reads, SQLite refuses it at once when somebody else has written since the reading began. In
    a transaction, where nobody else writes and another connection would see nothing of it, it is done right there.
    """

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None

    def do(self, write: Callable[_Given, _Found], *args: _Given.args, **more: _Given.kwargs) -> _Found:
        """Return what a function returns that writes."""
        if connection.in_atomic_block:
            return write(*args, **more)
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aside")
        return self._thread.submit(write, *args, **more).result()

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._thread is not None:
            self._thread.submit(connections.close_all)
            self._thread.shutdown()
            self._thread = None
