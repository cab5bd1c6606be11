"""Whether anything at all was written to the database."""

from typing import Any

from django.db import connection


def database_state() -> tuple[Any, ...] | None:
    """Name what this thread's connection sees: where the name is the same again, nobody wrote anything meanwhile.

    None in a transaction, which may take back what it wrote. SQLite counts what other connections commit and what its
    own writes. PostgreSQL numbers all transactions that write, in any of its databases, and a snapshot names those that
    it sees: a busy neighbour changes the name as well.
    """
    own: Any = connection
    if own.in_atomic_block:
        return None
    is_sqlite = own.vendor == "sqlite"
    with own.cursor() as cursor:
        cursor.execute("PRAGMA data_version" if is_sqlite else "SELECT pg_current_snapshot()::text")
        [seen] = cursor.fetchone()
    return (own.number, seen, own.connection.total_changes) if is_sqlite else (seen,)
