"""What processes take while something goes on: memory now and then, and CPU from beginning to end."""

import os
import statistics
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import psutil

EVERY = 2.0  # seconds
MIB = 1024**2


class Process(NamedTuple):
    """A process and what it is called in the report."""

    name: str
    process: psutil.Process


class Watch(threading.Thread):
    """Looks at processes and their children every two seconds, until it is stopped.

    named: the process ids to look at, by what they are called. A process that has children is called that too, its
    children "name 1", "name 2" in the order of their ids. database: the name of a PostgreSQL database on this machine
    whose backends are added up.
    """

    def __init__(self, named: Mapping[str, int], database: str = "") -> None:
        super().__init__(daemon=True)
        self._named, self._database = dict(named), database
        self._over = threading.Event()
        self.started = time.monotonic()
        self.memory: dict[str, list[tuple[float, float]]] = {}  # by name: seconds since the start, MiB
        self._cpu: dict[str, dict[int, tuple[float, float]]] = {}  # by name and process: CPU seconds at first and last
        self.loads: list[float] = []  # of the machine, over the last minute

    def run(self) -> None:
        while not self._over.wait(EVERY):
            self.look()

    def stop(self) -> None:
        """End with a last look."""
        self._over.set()
        self.join()

    def look(self) -> None:
        """Note what all processes take now."""
        now = time.monotonic() - self.started
        self.loads.append(os.getloadavg()[0])
        for one in self._all():
            with suppress(psutil.NoSuchProcess):
                times = one.process.cpu_times()
                cpu = times.user + times.system
                of_name = self._cpu.setdefault(one.name, {})
                of_name[one.process.pid] = (of_name.get(one.process.pid, (cpu, cpu))[0], cpu)
                if one.name != "PostgreSQL":  # its backends share most of what they seem to have
                    self.memory.setdefault(one.name, []).append((now, one.process.memory_info().rss / MIB))

    def _all(self) -> Iterable[Process]:
        for name, pid in self._named.items():
            with suppress(psutil.NoSuchProcess):
                parent = psutil.Process(pid)
                yield Process(name, parent)
                for number, child in enumerate(sorted(parent.children(), key=lambda one: one.pid), 1):
                    yield Process(f"{name} {number}", child)
        if self._database:
            for process in psutil.process_iter(["cmdline"]):
                if " ".join(process.info["cmdline"] or ()).startswith("postgres:"):
                    title = process.info["cmdline"][0].split()
                    if self._database in title:
                        yield Process("PostgreSQL", process)

    @property
    def cpu(self) -> dict[str, float]:
        """CPU as a share of one core, by name."""
        took = time.monotonic() - self.started
        return {
            name: sum(last - first for first, last in of_name.values()) / took for name, of_name in self._cpu.items()
        }

    def told(self) -> dict[str, Any]:
        """Return for each process its memory at the start, each minute and the end, and how it grows."""
        return {name: growth(samples) for name, samples in self.memory.items()}


def growth(samples: list[tuple[float, float]]) -> dict[str, Any]:
    """Return MiB at the start, after each minute and at the end, the peak, and the slope of the second half."""
    until = samples[-1][0]
    minutes = [
        min(samples, key=lambda sample: abs(sample[0] - 60 * minute))[1] for minute in range(1, int(until // 60) + 1)
    ]
    late = [(at / 60, mib) for at, mib in samples if at >= until / 2]
    slope = statistics.linear_regression(*zip(*late, strict=True)).slope if len(late) > 2 else 0.0
    return {
        "start": samples[0][1],
        "minutes": minutes,
        "end": samples[-1][1],
        "peak": max(mib for _, mib in samples),
        "slope": slope,
    }
