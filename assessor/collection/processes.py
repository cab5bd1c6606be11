"""Which process does something, and whether it is still alive."""

import os
import socket
from collections.abc import Container
from datetime import timedelta
from functools import cache
from typing import Any

import psutil
from django.utils import timezone

_PRESUMED_DEAD = timedelta(minutes=5)  # without a sign of life, where the process can't be looked at
_CLOCK_TOLERANCE = 2.0  # seconds by which a process's start may seem to move when the clock is set


@cache
def identity(pid: int) -> str:
    """Return what names a process of this machine for ever: host, pid and start (a pid is given again one day)."""
    return f"{socket.gethostname()} {pid} {psutil.Process(pid).create_time()}"


def me() -> str:
    """Return the identity of this process."""
    return identity(os.getpid())


def is_running(owner: str) -> bool | None:
    """Say whether the process of this identity runs; None where it is another machine's and can't be looked at."""
    host, pid, started = owner.rsplit(" ", 2)
    if host != socket.gethostname():
        return None
    try:
        process = psutil.Process(int(pid))
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        # A process of that number that started at another time is another one.
        return abs(process.create_time() - float(started)) < _CLOCK_TOLERANCE
    except psutil.NoSuchProcess:
        return False


def is_at_work(record: Any, own: Container[int]) -> bool:
    """Say whether a process is at the work that a record tells of. own: the keys of those that this process is at."""
    if record.owner == me():
        return record.pk in own
    running = is_running(record.owner)
    if running is not None:
        return running
    return record.alive_at is not None and timezone.now() - record.alive_at < _PRESUMED_DEAD
