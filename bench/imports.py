"""How fast imports of a track are, how much memory they take, and what assessors notice of them.

    python -m bench.imports [--scale 0.1]

1. A process of its own imports a tenth of the track, another one all of it: seconds in total, peak memory, and for
   the JSON kinds how many times as long as a plain json.loads loop over the same files in that process.
2. A third process imports all of it again while gunicorn serves twelve assessors from the same SQLite database: each
   sends a save a second over HTTP, as the editor does, and how long each takes is measured where it is sent.

A figure over its limit fails the benchmark.
"""

import argparse
import http.client
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from bench import house, track

TOTAL_LIMIT = 180  # seconds
MEMORY_LIMIT = 400  # MiB
MEMORY_GROWTH_LIMIT = 64  # MiB, from a tenth of the track to all of it
RATIO_LIMIT = 15  # times json.loads; a goal for each JSON kind
SAVE_LIMIT = 100  # milliseconds at the 95th percentile
_JSON_KINDS = ("segments", "runs")
_QUIET = 15  # seconds of saves before the import
_PAUSE = 1.0  # seconds between two saves of an assessor


def parse_seconds(parts: list[track.Part]) -> float:
    """Return the CPU seconds of reading the files with json.loads and nothing else: the best of two."""
    return min(_parse_once(parts) for _ in range(2))


def _parse_once(parts: list[track.Part]) -> float:
    start = time.process_time()
    for part in parts:
        with part.path.open(encoding="utf-8") as lines:
            for line in lines:
                json.loads(line)
    return time.process_time() - start


class Imported(NamedTuple):
    """What importing the files of one kind took: seconds, CPU seconds, times json.loads (0: no JSON), peak in MiB."""

    kind: str
    records: int
    seconds: float
    cpu: float
    ratio: float
    peak: float


def import_all(folder: Path, files: Path, slug: str) -> list[Imported]:
    """Import every file into a campaign of this database, kind by kind. Runs in a process of its own."""
    house.open_house(folder)
    campaign = house.new_campaign(slug)
    parts = [
        track.Part(kind, Path(path), *rest) for kind, path, *rest in json.loads((files / "parts.json").read_text())
    ]
    found = []
    for kind in dict.fromkeys(part.kind for part in parts):
        same = [part for part in parts if part.kind == kind]
        wall, cpu = time.perf_counter(), time.process_time()
        for part in same:
            house.load(campaign, part)
        seconds, cpu = time.perf_counter() - wall, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        ratio = cpu / parse_seconds(same) if kind in _JSON_KINDS else 0.0
        found.append(Imported(kind, sum(part.records for part in same), seconds, cpu, ratio, peak))
    return found


def write_files(folder: Path, scale: float) -> None:
    parts = [(part.kind, str(part.path), part.options, part.records) for part in track.write(folder, scale)]
    (folder / "parts.json").write_text(json.dumps(parts))


def in_a_process(folder: Path, files: Path, slug: str) -> list[Imported]:
    command = [sys.executable, "-m", "bench.imports", "--import", str(folder), str(files), slug]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [Imported(*row) for row in json.loads(done.stdout)]


class Assessor(threading.Thread):
    """A browser at work: sends a save a second until told to stop, and keeps how long each took."""

    def __init__(self, port: int, session: str, bank: int, uid: str, version: int) -> None:
        super().__init__(daemon=True)
        self.took: list[float] = []  # milliseconds
        self.refused: list[int] = []
        self.over = threading.Event()
        self._port, self._session, self._bank, self._uid, self._version = port, session, bank, uid, version

    def run(self) -> None:
        token = "c" * 32
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"sessionid={self._session}; csrftoken={token}",
            "X-CSRFToken": token,
            "X-Assay-Write": "1",
        }
        while not self.over.wait(_PAUSE):
            label = "vital" if len(self.took) % 2 else "okay"
            form = {"key": uuid.uuid4(), "version": self._version, "importance": label}
            connection = http.client.HTTPConnection("localhost", self._port, timeout=60)
            start = time.perf_counter()
            try:
                connection.request("POST", f"/nuggets/{self._bank}/{self._uid}/importance/", urlencode(form), headers)
                response = connection.getresponse()
                response.read()
            except OSError:
                self.refused.append(0)
                continue
            finally:
                connection.close()
            self.took.append(1000 * (time.perf_counter() - start))
            if response.status == 200:
                self._version = int(response.headers["X-Assay-Version"])
            else:
                self.refused.append(response.status)


def saves_during_import(folder: Path, files: Path, small: Path) -> tuple[list[float], list[float], int]:
    """Return the milliseconds of saves on a quiet server and during an import, and how many were refused."""
    write_files(small, 0.01)
    house.open_house(folder)
    house.collect_static_files()
    campaign = house.new_campaign("saves")
    for part in track.write(small, 0.01):
        house.load(campaign, part)
    house.work(house.plan(campaign))
    with house.serve() as port:
        people = _assessors(port)
        for assessor in people:
            assessor.start()
            time.sleep(_PAUSE / len(people))
        time.sleep(_QUIET)
        before = [len(assessor.took) for assessor in people]
        in_a_process(folder, files, "imported")
        for assessor in people:
            assessor.over.set()
        for assessor in people:
            assessor.join()
    # The first saves meet a server that still loads its code.
    quiet = [took for a, known in zip(people, before, strict=True) for took in a.took[2:known]]
    during = [took for a, known in zip(people, before, strict=True) for took in a.took[known:]]
    return quiet, during, sum(len(assessor.refused) for assessor in people)


def _assessors(port: int) -> list[Assessor]:
    """Sign an assessor in for an open bank of each of the twelve people."""
    from nuggets.models import NuggetBank

    banks: dict[int, Any] = {}
    for bank in NuggetBank.objects.filter(state="open").select_related("task__person"):
        banks.setdefault(bank.task.person_id, bank)
    people = []
    for bank in banks.values():
        uid = bank.order[0]
        people.append(Assessor(port, house.session(bank.task.person), bank.pk, uid, bank.version))
    return people


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the imports of a track.")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--import", dest="task", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.task:
        folder, files, slug = chosen.task
        print(json.dumps(import_all(Path(folder), Path(files), slug)))
        return
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        raise SystemExit(report(Path(name), chosen.scale))


def report(folder: Path, scale: float) -> int:
    """Measure and print everything; return how many figures are over their limits."""
    over = 0

    def say(what: str, found: float, limit: float, unit: str) -> None:
        nonlocal over
        over += found > limit
        print(f"{what}: {found:,.1f} {unit} (limit {limit:,}) {'OVER' if found > limit else 'ok'}", flush=True)

    peaks = []
    for part in (scale / 10, scale):
        files = folder / f"files-{part}"
        write_files(files, part)
        (folder / f"house-{part}").mkdir()
        found = in_a_process(folder / f"house-{part}", files, house.SLUG)
        print(f"scale {part}: {'kind':10} {'records':>9} {'seconds':>8} {'CPU s':>7} {'x json':>7} {'peak MiB':>9}")
        for row in found:
            ratio = f"{row.ratio:7.1f}" if row.ratio else f"{'':7}"
            print(
                f"{'':10} {row.kind:10} {row.records:9,} {row.seconds:8.1f} {row.cpu:7.1f} {ratio} {row.peak:9.0f}",
                flush=True,
            )
        peaks.append(found[-1].peak)
    say("all of it", sum(row.seconds for row in found), TOTAL_LIMIT, "s")
    say("peak memory", peaks[1], MEMORY_LIMIT, "MiB")
    say("peak memory more than at a tenth", peaks[1] - peaks[0], MEMORY_GROWTH_LIMIT, "MiB")
    for row in found:
        if row.ratio:
            say(f"{row.kind}, beside json.loads", row.ratio, RATIO_LIMIT, "times")
    (folder / "shared").mkdir()
    quiet, during, refused = saves_during_import(folder / "shared", files, folder / "small")
    p50, p95 = statistics.median(quiet), house.percentile(quiet, 95)
    print(f"saves, quiet server: {len(quiet)}, p50 {p50:.1f} ms, p95 {p95:.1f} ms")
    print(f"saves, during import: {len(during)}, p50 {statistics.median(during):.1f} ms, slowest {max(during):.0f} ms")
    say("saves during import, p95", house.percentile(during, 95), SAVE_LIMIT, "ms")
    say("saves refused", refused, 0, "")
    return over


if __name__ == "__main__":
    main()
