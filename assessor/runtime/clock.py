"""The clock that all processes share: machines' own may be apart."""

from datetime import datetime

from django.db import connection
from django.utils import timezone

from assessor.runtime import replica


def shared_now() -> datetime:
    """Return the time by PostgreSQL's clock, also in a transaction; on SQLite all processes share one machine."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with replica.on_primary(), connection.cursor() as cursor:
        cursor.execute("select clock_timestamp()")
        (now,) = cursor.fetchone()
        assert isinstance(now, datetime)
        return now
