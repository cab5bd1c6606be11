"""Queries that are asked for every label, whose plans PostgreSQL keeps."""

from collections.abc import Sequence
from typing import Any

from django.db import connection


def fetch_prepared(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a query.

    To plan one of some fifteen tables takes PostgreSQL ten times as long as to carry it out. Django's own cursors put
    values into the text, of which no plan can be kept.
    """
    cursor: Any = connection.cursor()  # connects where there is no connection yet
    # Django's log of queries, where it is on, has no text of a prepared one.
    if connection.vendor == "postgresql" and not connection.queries_logged:
        import psycopg

        own: Any = psycopg.Cursor(connection.connection)
        cursor = connection.make_cursor(own)
    with cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())
