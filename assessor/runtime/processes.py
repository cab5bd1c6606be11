"""Which process does something, and whether it is still alive."""

import os
import socket
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from assessor.runtime.clock import shared_now

_PATIENCE = timedelta(minutes=5)  # without a sign of life: out of sight, or stopped
_TOLERANCE = 2.0  # seconds by which a process's start may seem to move: the time of the boot is told in whole ones
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@cache
def identity(pid: int) -> str:
    """Return what names a process of this machine for ever: host, pid and start (a pid is given again one day)."""
    return f"{socket.gethostname()} {pid} {_boot()}:{_since_boot(pid)}"


@cache
def _boot() -> str:
    """Return what names this run of the machine, or "" where nothing does."""
    return _BOOT.read_text().strip() if _BOOT.exists() else ""


def _since_boot(pid: int) -> float:
    """Return when a process started, in seconds: not by the clock, which can be set while it runs."""
    import psutil  # 0.8 MiB, which few web processes need

    return psutil.Process(pid).create_time() - psutil.boot_time()


def me() -> str:
    """Return the identity of this process."""
    return identity(os.getpid())


def is_running(owner: str) -> bool | None:
    """Say whether the process of this identity runs; None where it is another machine's and can't be looked at."""
    import psutil

    host, pid, started = owner.rsplit(" ", 2)
    if host != socket.gethostname():
        return None
    boot, _, seconds = started.rpartition(":")
    try:
        if psutil.Process(int(pid)).status() == psutil.STATUS_ZOMBIE:
            return False
        # A process of that number that started at another time is another one.
        return boot == _boot() and abs(_since_boot(int(pid)) - float(seconds)) < _TOLERANCE
    except psutil.NoSuchProcess:
        return False


def is_alive(record: Any, patience: timedelta = _PATIENCE) -> bool:
    """Say whether the process that a record names runs and gave a sign of life lately.

    The one rule for all that a process holds: imports, exports, calculations and the units of jobs. A process of
    another machine can't be looked at, and one that hangs runs: of these the sign of life tells.
    """
    if is_running(record.owner) is False:
        return False
    return record.alive_at is not None and shared_now() - record.alive_at < patience
