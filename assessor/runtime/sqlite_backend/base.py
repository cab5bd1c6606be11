"""SQLite as Django has it, with a shorter wait for the lock that one writer at a time holds."""

import sqlite3
import time
from itertools import count
from typing import Any

from django.db.backends.sqlite3 import base

PAUSE = 0.001  # seconds between two tries
_numbers = count()


class DatabaseWrapper(base.DatabaseWrapper):
    """SQLite waits for its lock by looking again after longer and longer pauses, of up to 100 ms.

    Where a dozen people save at once, who has waited long looks seldom, and others pass them by: some wait for half a
    second while each holds the lock for a few milliseconds. Here everybody looks equally often.
    """

    number: int  # of the connection that is open: no other one of the process has had it

    def get_new_connection(self, conn_params: Any) -> Any:
        self.number = next(_numbers)
        return super().get_new_connection(conn_params)

    def _start_transaction_under_autocommit(self) -> None:
        assert self.connection is not None
        options = self.settings_dict["OPTIONS"]
        begin, until = f"BEGIN {options['transaction_mode']}", time.monotonic() + options["timeout"]
        with self.wrap_database_errors:
            self.connection.execute("PRAGMA busy_timeout = 0")
            try:
                while not self._begin(begin, is_last=time.monotonic() > until):
                    time.sleep(PAUSE)
            finally:
                self.connection.execute(f"PRAGMA busy_timeout = {int(1000 * options['timeout'])}")

    def _begin(self, statement: str, *, is_last: bool) -> bool:
        """Try once to begin; tell whether it could be done. Raises what SQLite raises, if it is the last try."""
        connection: Any = self.connection
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if is_last or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True
