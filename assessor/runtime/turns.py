"""Turns at SQLite's only write lock, for who has much to write in many transactions."""

import time

from django.db import connection

_LONGEST_PAUSE = 0.2  # seconds


def let_others_write(seconds: float) -> None:
    """Leave the lock alone for half as long as it was held: who waits looks every millisecond."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        time.sleep(min(seconds / 2, _LONGEST_PAUSE))
