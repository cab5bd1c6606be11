"""Which process does something, and whether it is still alive."""

import os
import socket
from functools import cache

import psutil

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
