"""How fast an answer comes and a label is saved: for one assessor, for ten without a pause, for fifty at work.

    python -m bench.assigning [--database URL] [--scale 1.0] [--only one|ten|fifty]

A real server on a track-sized campaign, over loopback HTTP. A round is what an assessor's browser does: ask for the
next answer, then save a label. The load comes from a process of its own, which reports its CPU: a run in which it was
the bottleneck says nothing and is discarded. In the end every label that was called saved must stand in the database,
once and in its place.
"""

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import house, track

if TYPE_CHECKING:
    from assessor.work.models import Task

NUGGETS = 19
PEOPLE = 50
LABELS = ("support", "partial_support", "not_support")
BUSY = 0.7  # of a core: above that the load generator itself may have been what was measured


class Way(NamedTuple):
    """A way of putting load on the server. pause: seconds from the start of one round to that of the next."""

    name: str
    people: int
    seconds: float
    pause: float
    workers: int


class Limits(NamedTuple):
    """Milliseconds a round may take, and rounds a second there must be."""

    median: float | None = None
    high: float | None = None
    rate: float | None = None
    what: str = "round"


WAYS = {
    "one": (Way("one assessor", 1, 10, 0, 1), Limits(median=8, high=25)),
    "ten": (Way("ten without a pause", 10, 20, 0, 2), Limits(high=120, rate=60)),
    "fifty": (Way("fifty, a label a second each", PEOPLE, 60, 1.0, 2), Limits(high=40)),
}


# ---- the load ----


class Browser:
    """One assessor's connection: kept alive, with a session."""

    def __init__(self, port: int, cookie: str, task: int) -> None:
        self._connection = http.client.HTTPConnection("localhost", port)
        self._base = f"/assign/{task}/"
        self._headers = {"Cookie": f"sessionid={cookie}"}
        page = self._send("GET", self._base)
        token = next(
            value.split("csrftoken=")[1].split(";")[0]
            for name, value in page.getheaders()
            if name.lower() == "set-cookie" and "csrftoken=" in value
        )
        self._headers["Cookie"] += f"; csrftoken={token}"
        self._write = self._headers | {"X-CSRFToken": token, "Content-Type": "application/x-www-form-urlencoded"}

    def _send(self, method: str, path: str, body: str = "", headers: dict[str, str] | None = None) -> Any:
        self._connection.request(method, path, body or None, headers or self._headers)
        response = self._connection.getresponse()
        self.body = response.read()
        if response.status != 200:
            raise SystemExit(f"{method} {path}: {response.status} {self.body[:300]!r}")
        return response

    def answer(self, sheet: int) -> None:
        self._send("GET", f"{self._base}answers/{sheet}/")

    def label(self, sheet: int, nugget: int, label: str, version: int) -> int:
        fields = f"key={uuid.uuid4()}&version={version}&nugget={nugget}&label={label}&seconds=1"
        self._send("POST", f"{self._base}answers/{sheet}/label/", fields, self._write)
        return int(json.loads(self.body)["version"])


def drive(plan: dict[str, Any]) -> dict[str, Any]:
    """Send rounds until the time is over; return what each took, what was saved, and the CPU it cost here."""
    rounds: list[tuple[float, float]] = []
    saved: list[tuple[int, int, str]] = []
    errors: list[str] = []
    ready = threading.Barrier(len(plan["people"]) + 1)

    def work(number: int, person: dict[str, Any]) -> None:
        try:
            browser = Browser(plan["port"], person["cookie"], person["task"])
            # The same nugget through all answers, then the next one: each round is on another answer.
            todo = [(sheet, nugget) for nugget in person["nuggets"] for sheet in person["sheets"]]
            versions = dict(map(tuple, person["versions"]))
            browser.answer(person["sheets"][0])
            ready.wait()
            due = time.perf_counter() + plan["pause"] * number / len(plan["people"])
            until = time.perf_counter() + plan["seconds"]
            for place, (sheet, nugget) in enumerate(todo[person["done"] :]):
                if plan["pause"]:
                    time.sleep(max(0.0, due - time.perf_counter()))
                    due += plan["pause"]
                started = time.perf_counter()
                if started > until:
                    return
                browser.answer(sheet)
                label = LABELS[(place + number) % 3]
                between = time.perf_counter()
                versions[sheet] = browser.label(sheet, nugget, label, versions[sheet])
                rounds.append((between - started, time.perf_counter() - between))
                saved.append((sheet, nugget, label))
        except BaseException as error:
            errors.append(f"{type(error).__name__}: {error}")
            ready.abort()

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(plan["people"])]
    for thread in threads:
        thread.start()
    ready.wait()
    cpu, started = time.process_time(), time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - started
    return {
        "rounds": rounds,
        "saved": saved,
        "errors": errors,
        "seconds": took,
        "cpu": (time.process_time() - cpu) / took,
    }


# ---- the house ----


def prepare(folder: Path, scale: float) -> "list[Task]":
    """Load the track, finish nuggets for every topic, and give the topics to fifty people."""
    from assessor.work.actions import give_tasks
    from assignment.actions import create_manual_assign

    campaign = house.new_campaign()
    parts = track.write(folder / "track", scale)
    for part in parts:
        if part.kind in ("topics", "runs"):
            house.load(campaign, part)
    house.load(campaign, _nuggets(folder / "nuggets.jsonl", [topic.qid for topic in campaign.topics.all()]))
    nuggets = campaign.conditions.get(name="N")
    condition = create_manual_assign(nuggets=nuggets, name="N/Manual", acting_user=None)
    people = [house.person(f"assessor-{number}", "assessor") for number in range(PEOPLE)]
    tasks: list[Task] = []
    for number, topic in enumerate(campaign.topics.order_by("qid")):
        given = {"condition": condition, "person": people[number % PEOPLE], "acting_user": None}
        tasks += give_tasks(campaign=campaign, topics=[topic], **given)
    return tasks


def _nuggets(path: Path, qids: list[str]) -> track.Part:
    with path.open("w", encoding="utf-8") as out:
        for qid in qids:
            nuggets = [
                {"text": f"fact {number} of {qid}", "importance": "okay" if number % 3 else "vital"}
                for number in range(NUGGETS)
            ]
            out.write(json.dumps({"query": "", "qid": qid, "nuggets": nuggets}) + "\n")
    return track.Part("nuggets", path, {"condition": "N", "by": "people"}, len(qids))


def person_of(task: "Task", done: int) -> dict[str, Any]:
    """Return what the load needs to know of a task."""
    sheets = list(task.answer_sheets.filter(by_rule=False).order_by("place"))
    nuggets = [nugget["id"] for nugget in sheets[0].bank.editions.get().nuggets]
    return {
        "cookie": house.session(task.person),
        "task": task.pk,
        "sheets": [sheet.pk for sheet in sheets],
        "versions": [[sheet.pk, sheet.version] for sheet in sheets],
        "nuggets": nuggets,
        "done": done,
    }


def run(way: Way, tasks: "list[Task]", done: dict[int, int]) -> dict[str, Any]:
    """Run the load against a server of its own; check afterwards that every label stands where it was put."""
    chosen = tasks[: way.people]
    with house.serve(workers=way.workers) as port:
        plan = {
            "port": port,
            "pause": way.pause,
            "seconds": way.seconds,
            "people": [person_of(task, done.get(task.pk, 0)) for task in chosen],
        }
        before = _revisions()
        command = [sys.executable, "-m", "bench.assigning", "--drive"]
        load = subprocess.run(command, input=json.dumps(plan), capture_output=True, text=True, check=False)
        if load.returncode:
            raise SystemExit(load.stderr)
        result: dict[str, Any] = json.loads(load.stdout)
    result["wrong"] = _misplaced(result["saved"])
    result["extra"] = _revisions() - before - len(result["saved"])
    for task, person in zip(chosen, plan["people"], strict=True):
        own = set(person["sheets"])
        done[task.pk] = person["done"] + sum(sheet in own for sheet, _, _ in result["saved"])
    return result


def _revisions() -> int:
    from assignment.models import Revision

    return Revision.objects.count()


def _misplaced(saved: list[list[Any]]) -> int:
    """Count labels that were called saved and do not stand where they were put."""
    from assignment.models import AnswerSheet

    there = dict(AnswerSheet.objects.filter(pk__in={sheet for sheet, _, _ in saved}).values_list("pk", "labels"))
    return sum(there[sheet].get(str(nugget)) != label for sheet, nugget, label in saved)


def told(way: Way, limits: Limits, result: dict[str, Any]) -> int:
    """Print what came of a way; return how many figures are over their limits."""
    both = [1000 * (read + write) for read, write in result["rounds"]]
    reads, writes = ([1000 * pair[side] for pair in result["rounds"]] for side in (0, 1))
    rate = len(both) / result["seconds"]
    median, high = statistics.median(both), _high(both)
    figures = f"median {median:.1f} ms, p95 {high:.1f} ms, {rate:.0f} rounds/s"
    parts = ", ".join(
        f"{what} {statistics.median(took):.1f}/{_high(took):.1f}"
        for what, took in (("answer", reads), ("label", writes))
    )
    print(f"{way.name}: {len(both)} rounds, {figures} ({parts}); load generator {100 * result['cpu']:.0f} % of a core")
    if result["cpu"] > BUSY:
        print("  DISCARDED: the load generator was busy itself")
    wrong = [f"{result[name]} {name}" for name in ("wrong", "extra") if result[name]] + result["errors"][:3]
    if wrong:
        print("  WRONG:", "; ".join(wrong))
    over = [
        limits.median is not None and median > limits.median,
        limits.high is not None and high > limits.high,
        limits.rate is not None and rate < limits.rate,
    ]
    if any(over):
        print(f"  OVER its limits: {limits}")
    return sum(over) + bool(wrong)


def _high(took: list[float]) -> float:
    return statistics.quantiles(took, n=20, method="inclusive")[-1]


def ways(only: str | None) -> Iterator[tuple[Way, Limits]]:
    for name, pair in WAYS.items():
        if only in (None, name):
            yield pair


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="", help="The URL of an empty PostgreSQL database; else SQLite.")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", choices=list(WAYS))
    parser.add_argument("--drive", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.drive:
        print(json.dumps(drive(json.load(sys.stdin))))
        return
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        house.open_house(folder, chosen.database)
        house.collect_static_files()
        tasks = prepare(folder, chosen.scale)
        done: dict[int, int] = {}
        raise SystemExit(sum(told(way, limits, run(way, tasks, done)) for way, limits in ways(chosen.only)))


if __name__ == "__main__":
    main()
