"""Connections to the database across processes."""

from django.db import connections


def leave_connections() -> None:
    """Close all that is open, pools too; what is needed next opens its own."""
    for connection in connections.all(initialized_only=True):
        connection.close()
        if connection.vendor == "postgresql":
            connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL's wrapper alone
