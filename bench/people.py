"""People at work on answers over loopback HTTP: the load, what it took, and whether labels stand where they were put.

A round is what a person's browser does: fetch the answer if it is another one than before, have the model's label shown
where that goes with the work, then save a label. The same rounds are sent to bench.limit's views first: each figure is
told as a multiple of theirs too. The load comes from a process of its own (this module), which reports
its CPU: a run in which it was the bottleneck says nothing and is discarded.
"""

import http.client
import json
import statistics
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from bench import house

if TYPE_CHECKING:
    from assessor.labels.models import JudgedAnswer
    from assessor.work.models import Task

LIMIT = "/limit/{}/"  # where bench.limit has its views
BUSY = 0.7  # of a core: above that the load generator itself may have been what was measured


class Pace(NamedTuple):
    """A way of putting load on the server. pause: seconds from the start of one round to that of the next."""

    name: str
    people: int
    seconds: float
    pause: float
    workers: int


class Limits(NamedTuple):
    """Milliseconds the slowest rounds but 5 % may take, and what multiples of bench.limit's rounds are allowed."""

    high: float | None = None
    median_times: float | None = None
    high_times: float | None = None


class Item(NamedTuple):
    """What a label is about: an item of a sheet, by its key; fields: what a write on it tells besides."""

    sheet: int
    key: str
    fields: dict[str, str]


class Work(NamedTuple):
    """A kind of work. field: what a write calls an item; is_shown: whether a model's label is asked for before each."""

    path: str
    field: str
    labels: Sequence[str]
    sheets: "type[JudgedAnswer]"
    is_shown: bool = False


# ---- the load ----


class Browser:
    """One assessor's connection: kept alive, with a session."""

    def __init__(self, port: int, cookie: str, base: str) -> None:
        self._connection = http.client.HTTPConnection("localhost", port)
        self._base = base
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

    def rest(self) -> None:
        """Have no connection until the next request, which opens one."""
        self._connection.close()

    def answer(self, sheet: int) -> None:
        self._send("GET", f"{self._base}answers/{sheet}/")

    def write(self, sheet: int, action: str, version: int, fields: dict[str, str]) -> int:
        """Send a write; return the version that it made."""
        body = urlencode({"key": str(uuid.uuid4()), "version": str(version), **fields})
        self._send("POST", f"{self._base}answers/{sheet}/{action}/", body, self._write)
        return int(json.loads(self.body)["version"])


def drive(plan: dict[str, Any]) -> dict[str, Any]:
    """Send rounds until the time is over; return what each took, what was saved, and the CPU it cost here."""
    rounds: list[dict[str, float]] = []
    saved: list[tuple[int, str, str]] = []
    errors: list[str] = []
    ready = threading.Barrier(len(plan["people"]) + 1)
    labels = plan["labels"]

    def work(number: int, person: dict[str, Any]) -> None:
        try:
            browser = Browser(plan["port"], person["cookie"], plan["path"].format(person["task"]))
            versions = dict(map(tuple, person["versions"]))
            browser.answer(person["versions"][0][0])
            before = None
            browser.rest()
            ready.wait()
            due = time.perf_counter() + plan["pause"] * number / len(plan["people"])
            until = time.perf_counter() + plan["seconds"]
            for place, (sheet, item, fields) in enumerate(person["items"]):
                if plan["pause"]:
                    # The server closes what is idle for two seconds, and people think longer than that. Otherwise each
                    # would stay with one of the processes, however many others had come to the same.
                    browser.rest()
                    time.sleep(max(0.0, due - time.perf_counter()))
                    due += plan["pause"]
                at = {"start": time.perf_counter()}
                if at["start"] > until:
                    return
                named = {plan["field"]: item, **fields}
                if sheet != before:
                    browser.answer(sheet)
                    at["answer"] = time.perf_counter()
                before = sheet
                if plan["is_shown"]:
                    versions[sheet] = browser.write(sheet, "show", versions[sheet], named)
                    at["show"] = time.perf_counter()
                label = labels[(place + number) % len(labels)]
                given = named | {"label": label, "seconds": "1"}
                versions[sheet] = browser.write(sheet, "label", versions[sheet], given)
                at["label"] = time.perf_counter()
                rounds.append({name: then - since for (_, since), (name, then) in pairwise(at.items())})
                saved.append((sheet, item, label))
        except BaseException as error:
            errors.append(f"{type(error).__name__}: {error}")
            ready.abort()

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(plan["people"])]
    for thread in threads:
        thread.start()
    try:
        ready.wait()
    except threading.BrokenBarrierError:
        raise SystemExit("\n".join(errors)) from None
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


# ---- what came of it ----


def measure(work: Work, way: Pace, limits: Limits, tasks: "Sequence[tuple[Task, Sequence[Item]]]") -> int:
    """Have people work at a pace, on bench.limit and on Assay, and tell; return how many figures are over their limits.

    Afterwards every label must stand where it was put. tasks: each with what is to be labelled in it, in this order.
    """
    plan = _plan(work, way, tasks)
    with house.serve(way.workers, "bench.limit:application()") as port:
        least = _driven(plan | {"port": port, "path": LIMIT})
    result, wrong = run(work, way, tasks)
    return _told(way, limits, result, least, wrong)


def run(work: Work, way: Pace, tasks: "Sequence[tuple[Task, Sequence[Item]]]") -> tuple[dict[str, Any], dict[str, int]]:
    """Have people work at a pace on Assay; return what drive() returns, and counts of labels that are wrong."""
    plan = _plan(work, way, tasks)
    before = _standing(work, tasks)
    with house.serve(way.workers) as port:
        result = _driven(plan | {"port": port, "path": work.path})
    return result, _wrong(work, result["saved"], before, _standing(work, tasks))


def _plan(work: Work, way: Pace, tasks: "Sequence[tuple[Task, Sequence[Item]]]") -> dict[str, Any]:
    people = []
    for task, items in tasks[: way.people]:
        keys = list(dict.fromkeys(item.sheet for item in items))
        versions = dict(work.sheets.everything.filter(pk__in=keys).values_list("pk", "version"))
        people.append(
            {
                "cookie": house.session(task.person),
                "task": task.pk,
                "versions": [[key, versions[key]] for key in keys],
                "items": items,
            }
        )
    return {
        "pause": way.pause,
        "seconds": way.seconds,
        "field": work.field,
        "labels": work.labels,
        "is_shown": work.is_shown,
        "people": people,
    }


def _driven(plan: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.people"]
    load = subprocess.run(command, input=json.dumps(plan), capture_output=True, text=True, check=False)
    if load.returncode:
        raise SystemExit(load.stderr)
    result: dict[str, Any] = json.loads(load.stdout)
    return result


def _wrong(
    work: Work, given: Sequence[tuple[int, str, str]], before: "_Standing", after: "_Standing"
) -> dict[str, int]:
    """Count labels that do not stand as they were given."""
    saved = Counter((sheet, str(key)) for sheet, key, _ in given)
    stands = {(sheet, key): label for sheet, labels in after.labels.items() for key, label in labels.items()}
    stood = {(sheet, key) for sheet, labels in before.labels.items() for key in labels}
    return {
        "lost or of another kind": sum(stands.get((sheet, str(key))) != label for sheet, key, label in given),
        "that nobody gave": len(stands.keys() - stood - saved.keys()),
        "given twice": sum(count - 1 for count in saved.values()) + len(stood & saved.keys()),
        "revisions too many": after.revisions - before.revisions - len(saved) * (2 if work.is_shown else 1),
    }


class _Standing(NamedTuple):
    """What stands on all sheets of people's tasks."""

    labels: dict[int, dict[str, str]]
    revisions: int


def _standing(work: Work, tasks: "Sequence[tuple[Task, Sequence[Item]]]") -> _Standing:
    of_people = work.sheets.everything.filter(task__in=[task for task, _ in tasks])
    revisions: Any = work.sheets._meta.get_field("revisions").related_model
    labels = {sheet.pk: sheet.labels for sheet in work.sheets.with_items(of_people)}
    return _Standing(labels, revisions.objects.filter(sheet__in=of_people).count())


def _told(way: Pace, limits: Limits, result: dict[str, Any], least: dict[str, Any], wrong: dict[str, int]) -> int:
    """Print what came of a way; return how many figures are over their limits."""
    took, at_least = _times(result["rounds"]), _times(least["rounds"])
    rate, most = (len(each["rounds"]) / each["seconds"] for each in (result, least))
    cpu = max(result["cpu"], least["cpu"])
    print(
        f"{way.name}: {rate:.0f} rounds/s, {rate / most:.2f} of the limit's; load generator {100 * cpu:.0f} % of a core"
    )
    for what, times in took.items():
        told = (f"{of} {ms:.1f} ms, {ms / at_least[what][of]:.2f} times the limit" for of, ms in times.items())
        print(f"  {what}: {'; '.join(told)}", flush=True)
    if cpu > BUSY:
        print("  DISCARDED: the load generator was busy itself")
    said = [f"{count} labels {what}" for what, count in wrong.items() if count] + result["errors"][:3]
    if said:
        print("  WRONG:", "; ".join(said))
    rounds, least_rounds = took["rounds"], at_least["rounds"]
    over = [
        limits.high is not None and rounds["p95"] > limits.high,
        limits.median_times is not None and rounds["median"] > limits.median_times * least_rounds["median"],
        limits.high_times is not None and rounds["p95"] > limits.high_times * least_rounds["p95"],
    ]
    if any(over):
        print(f"  OVER its limits: {limits}")
    return sum(over) + bool(said)


def _times(rounds: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the median and the 95th percentile of rounds and of their parts, in milliseconds."""
    parts = {name: [one[name] for one in rounds if name in one] for name in ("answer", "show", "label")}
    parts = {"rounds": [sum(one.values()) for one in rounds], **parts}
    return {
        name: {"median": 1000 * statistics.median(took), "p95": 1000 * house.percentile(took, 95)}
        for name, took in parts.items()
        if took
    }


if __name__ == "__main__":
    print(json.dumps(drive(json.load(sys.stdin))))
