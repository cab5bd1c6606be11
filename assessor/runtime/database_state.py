"""Whether anything at all was written to the database."""

from typing import Any

from django.db import connection

from assessor.runtime import replica


def database_state() -> tuple[Any, ...] | None:
    """Name what this thread's connection sees: where the name is the same again, nobody wrote anything meanwhile.

    None in a transaction, which may take back what it wrote. SQLite counts what other connections commit and what its
    own writes. PostgreSQL numbers all transactions that write, in any of its databases, and a snapshot names those that
    it sees: a busy neighbour changes the name as well. On a replica a snapshot doesn't name what is still open, so that
    one of before and one of after its commit look the same: how much is replayed does tell them apart.
    """
    own: Any = connection
    if own.in_atomic_block:
        return None
    is_sqlite = own.vendor == "sqlite"
    of_postgres = "pg_last_wal_replay_lsn()" if replica.is_read() else "pg_current_snapshot()"
    with own.cursor() as cursor:
        cursor.execute("PRAGMA data_version" if is_sqlite else f"SELECT {of_postgres}::text")
        [seen] = cursor.fetchone()
    return (own.number, seen, own.connection.total_changes) if is_sqlite else (own.alias, seen)
