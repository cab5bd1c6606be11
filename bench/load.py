"""Fifty assessors at work while a job writes forty labels a second, on a track-sized campaign.

    DATABASE_URL=postgres://… CELERY_BROKER_URL=redis://… python -m bench.load [--minutes 10] [--people 50]

Everything runs as docs/administrator/deployment.md says: gunicorn, a worker for imports, one for jobs, beat; and the
rehearsal endpoint, which takes a quarter of a second for an answer. The database must be an empty one; without a
DATABASE_URL it is SQLite in a temporary folder, without a CELERY_BROKER_URL the embedded broker. What the assessors do
is told in bench/crowd.py. In the end all that was called saved must stand in the database, once and as it was said, and
each citation of the job be labelled once.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import house, jobs, saved_check, scores, track
from bench.watch import Watch

if TYPE_CHECKING:
    from assessor.accounts.models import Person
    from assessor.campaigns.models import Campaign, Condition
    from assessor.llm.models import Job

LIMIT = 100  # milliseconds at the 95th percentile, of each kind of save
WEB_LIMIT = 220  # MiB of each web process
FLAT = 1.0  # MiB a minute in the second half, of web and workers
BUSY = 0.7  # of a core: above that the load generator may be what was measured
JUDGED, SHORT = 45, 3  # runs whose answers people judge of a topic: of most topics, and of those that are soon done
PASSAGES = 20  # to be graded of a topic
CITATIONS = 9  # judged of an answer, about: the first one of each sentence
WORKER = ["-m", "celery", "--quiet", "-A", "assessor", "worker", "--loglevel", "ERROR", "--without-gossip"]


# ---- the campaign ----


def prepare(folder: Path, scale: float, people: int) -> None:
    """Load the track and give each person topics of all four kinds, of which some are soon done."""
    campaign = house.new_campaign()
    for part in track.write(folder / "track", scale):
        if part.kind == "run_list":
            _order_runs(part.path)
        house.load(campaign, part)
    scores.add_items(campaign, folder)
    house.load(campaign, _rankings(campaign, folder / "rankings"))
    assessors = [house.person(f"assessor-{number}", "assessor") for number in range(people)]
    for condition in _conditions(campaign):
        _give(condition, assessors)


def _order_runs(path: Path) -> None:
    """Give the runs priorities by which some of them are judged: 1 for SHORT, 2 up to JUDGED."""
    head, *lines = path.read_text().splitlines()
    column = head.split(",").index("priority")
    for number, line in enumerate(lines):
        cells = line.split(",")
        cells[column] = str(1 + (number >= SHORT) + (number >= JUDGED))
        lines[number] = ",".join(cells)
    path.write_text("\n".join([head, *lines, ""]))


def _rankings(campaign: "Campaign", path: Path) -> track.Part:
    docids = list(campaign.segments.values_list("docid", flat=True)[:5_000])
    chance = random.Random(20)
    with path.open("w") as out:
        for topic in campaign.topics.order_by("qid"):
            for place, docid in enumerate(chance.sample(docids, PASSAGES)):
                out.write(f"{topic.qid} Q0 {docid} {place + 1} {PASSAGES - place} bm25\n")
    return track.Part("retrieval", path, {}, 0)


def _conditions(campaign: "Campaign") -> "Iterator[Condition]":
    from assessor.relevance.actions import create_relevance
    from assignment.actions import create_manual_assign
    from nuggets.actions import create_manual_nuggets
    from support.actions import create_support

    people = campaign.qrels_sources.get(name=track.PEOPLE)
    finished = campaign.conditions.get(name=scores.NUGGETS.name)
    yield create_manual_assign(nuggets=finished, name="ManualAssign", acting_user=None)
    yield create_support(campaign=campaign, name="support from scratch", shown=None, acting_user=None)
    yield create_manual_nuggets(campaign=campaign, name="ManualNuggets", qrels_source=people, acting_user=None)
    yield create_relevance(campaign=campaign, name="relevance", shown=None, from_queue=False, acting_user=None)


def _give(condition: "Condition", assessors: "list[Person]") -> None:
    """Give each person two topics: in turn, so that a person has other topics under each condition."""
    from assessor.campaigns.condition_kind import kind_of
    from assessor.plan.actions import set_runs
    from assessor.work.actions import give_tasks

    campaign = condition.campaign
    topics = list(campaign.topics.order_by("qid")[: 2 * len(assessors)])
    if kind_of(condition).judges_answers:
        for rule, some in (("priority<=2", topics[::2]), ("priority<=1", topics[1::2])):
            set_runs(condition=condition, topics=some, rule=rule, acting_user=None)
    for number, person in enumerate(assessors):
        house.open_guidelines(campaign, condition.kind, person)
        at = (number + condition.pk * 7) % len(assessors)
        given = topics[2 * at : 2 * at + 2]
        give_tasks(campaign=campaign, topics=given, condition=condition, person=person, acting_user=None)


def launch(url: str, rate: float, seconds: float) -> "Job":
    """Launch a job that labels so many citations a second for longer than so many seconds."""
    from assessor.campaigns.models import Campaign
    from assessor.llm.actions import create_judge, plan_job
    from assessor.llm.actions import launch as launch_job
    from assessor.llm.job_kind import job_kind_named

    campaign = Campaign.objects.get(slug=house.SLUG)
    parameters = {"model": "m", "temperature": 0.0, "max_tokens": 100, "limit_name": "max_tokens", "structured": False}
    # Requests leave 2 % slower than the limit.
    settings = {"base_url": url, "concurrency": 32, "requests_per_minute": round(60 * rate / 0.98)}
    name = f"judge {campaign.model_judges.count() + 1}"
    judge = create_judge(campaign=campaign, name=name, parameters=parameters, settings=settings, acting_user=None)
    of_topic = CITATIONS * campaign.runs.count()
    topics = list(campaign.topics.order_by("-qid")[: 1 + int(1.2 * rate * seconds / of_topic)])
    plan = plan_job(kind=job_kind_named("Support"), judge=judge, name=name, qrels_source=None, topics=topics)
    return launch_job(plan, most_calls=None, most_cost=None, acting_user=None)


# ---- the run ----


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a part of the installation; end it as a service manager does."""
    with house.log_file() as log:
        process = subprocess.Popen([sys.executable, *words], stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def run(folder: Path, minutes: float, people: int, rate: float, web: int, runners: int) -> dict[str, Any]:
    """Start everything, let people and the job work, stop the workers; return what was told and seen."""
    from django.db import connection

    with ExitStack() as stack:
        url = stack.enter_context(jobs.endpoint(jobs.LATENCY, folder / "calls.jsonl"))
        port, server = stack.enter_context(house.serving(web))
        job = launch(url, rate, 60 * minutes)
        imports = stack.enter_context(running(*WORKER, "-Q", "celery", "-n", "imports@%h", "--concurrency", "1"))
        worker = stack.enter_context(running(*WORKER, "-Q", "jobs", "-n", "jobs@%h", "--concurrency", str(runners)))
        beat = stack.enter_context(running("-m", "celery", "--quiet", "-A", "assessor", "beat", "--loglevel", "ERROR"))
        planned = plan(port, minutes, people)
        while job.units_done == 0:
            time.sleep(0.1)
            job.refresh_from_db()
            if job.state not in job.ACTIVE or worker.poll() is not None:
                raise SystemExit(f"The job does not run: {job.state} {job.message}")
        command = [sys.executable, "-m", "bench.crowd"]
        crowd = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        named = {"web": server.pid, "imports worker": imports.pid, "jobs worker": worker.pid, "beat": beat.pid}
        named["load"] = crowd.pid
        database = str(connection.settings_dict["NAME"]) if connection.vendor == "postgresql" else ""
        watch = Watch(named, database)
        before, done, began = database_counters(), job.units_done, time.monotonic()
        watch.start()
        told, _ = crowd.communicate(json.dumps(planned))
        took = time.monotonic() - began
        watch.stop()
        job.refresh_from_db()
        after = database_counters()
        if crowd.returncode:
            raise SystemExit("the load generator failed")
    return json.loads(told) | {
        "job": job.pk,
        "job_rate": (job.units_done - done) / took,
        "memory": watch.told(),
        "process_cpu": watch.cpu,
        "load_average": [min(watch.loads), statistics.mean(watch.loads), max(watch.loads)],
        "database": {name: after[name] - before[name] for name in after},
    }


def database_counters() -> dict[str, float]:
    """Return PostgreSQL's counts of this database: transactions, milliseconds in statements, blocks read and hit."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return {}
    names = ("xact_commit", "xact_rollback", "active_time", "blks_hit", "blks_read", "deadlocks")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(names)} FROM pg_stat_database WHERE datname = current_database()")
        return dict(zip(names, cursor.fetchone(), strict=True))


def plan(port: int, minutes: float, most: int) -> dict[str, Any]:
    from assessor.campaigns.condition_kind import kind_of, related_records
    from assessor.campaigns.models import Campaign
    from assessor.work.models import Task

    campaign = Campaign.objects.get(slug=house.SLUG)
    assert campaign.created_by is not None
    open_tasks = Task.objects.filter(state=Task.State.OPEN).select_related("person", "condition", *related_records())
    own: dict[Person, list[dict[str, Any]]] = {}
    for task in open_tasks.order_by("person", "pk"):
        kind = {"assignment": "assign"}.get(task.kind, task.kind)
        bank = task.nugget_bank.pk if kind == "nuggets" else None
        own.setdefault(task.person, []).append(
            {"kind": kind, "task": task.pk, "base": kind_of(task).url(task), "bank": bank}
        )
    people = []
    for number, (person, tasks) in enumerate(list(own.items())[:most]):
        turn = number % len(tasks)
        people.append({"cookie": house.session(person), "tasks": tasks[turn:] + tasks[:turn]})
    base = f"/campaigns/{campaign.slug}/"
    return {
        "port": port,
        "seconds": 60 * minutes,
        "people": people,
        "organizer": {
            "cookie": house.session(campaign.created_by),
            "pages": [base + name for name in ("progress/", "jobs/", "plan/", "imports/")],
        },
        "words": track.Language(random.Random(50)).phrase(40).split(),
    }


# ---- what came of it ----


def report(result: dict[str, Any], wrong: dict[str, int]) -> int:
    """Print everything; return how many figures are over their limits."""
    over = 0
    seconds = result["seconds"]
    lowest, mean, highest = result["load_average"]
    print(f"{seconds:.0f} s; the machine's load average {lowest:.1f} to {highest:.1f}, {mean:.1f} on average")
    print(f"the job wrote {result['job_rate']:.1f} labels a second")
    print(f"{'requests':28} {'n':>7} {'a second':>8} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8} {'max ms':>8}")
    saves = [took for kind, of_kind in result["took"].items() if kind.startswith("save") for took in of_kind]
    for kind, took in [*sorted(result["took"].items()), ("all saves", saves)]:
        p50, p95, p99 = (house.percentile(took, share) for share in (50, 95, 99))
        is_over = ("save" in kind) and p95 > LIMIT
        over += is_over
        print(
            f"{kind:28} {len(took):7} {len(took) / seconds:8.2f} {p50:8.1f} {p95:8.1f} {p99:8.1f} {max(took):8.1f}"
            f"{'  OVER' if is_over else ''}"
        )
    print(f"errors: {result['error_count']}; connections that broke and were tried again: {result['resent']}")
    for error in result["errors"]:
        print("  ", error)
    over += result["error_count"]
    print(f"{'process':22} {'CPU':>6} {'start':>6} {'end':>6} {'peak MiB':>9} {'MiB a minute':>13}  each minute")
    for name, share in result["process_cpu"].items():
        found = result["memory"].get(name)
        if not found:
            print(f"{name:22} {share:6.1%}")
            continue
        grows = name.startswith(("web", "imports", "jobs")) and found["slope"] > FLAT
        is_over = grows or (name.startswith("web") and found["peak"] > WEB_LIMIT)
        over += is_over
        figures = f"{found['start']:6.0f} {found['end']:6.0f} {found['peak']:9.0f} {found['slope']:13.2f}"
        minutes = " ".join(f"{mib:.0f}" for mib in found["minutes"])
        print(f"{name:22} {share:6.1%} {figures}  {minutes}{'  OVER' if is_over else ''}")
    if result["cpu"] > BUSY:
        print("DISCARDED: the load generator was busy itself")
        over += 1
    if found := result["database"]:
        counts = f"{found['xact_rollback']:.0f} rolled back, {found['deadlocks']:.0f} deadlocks"
        rates = f"{found['xact_commit'] / seconds:.0f} a second, {found['active_time'] / seconds:.0f} ms in statements"
        print(f"PostgreSQL's transactions: {rates}; {counts}")
    print(
        f"{len(result['saves'])} saves, of these {len(result['labels'])} labels and {len(result['grades'])} grades;"
        f" {len(result['signed_off'])} topics signed off, {len(result['handed_in'])} banks handed in"
    )
    bad = {what: count for what, count in wrong.items() if count}
    print("lost, doubled, wrong: " + ("; ".join(f"{count} {what}" for what, count in bad.items()) or "0"))
    return over + len(bad)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--rate", type=float, default=40, help="labels that the job writes in a second")
    parser.add_argument("--web", type=int, default=2, help="web processes")
    parser.add_argument("--runners", type=int, default=2, help="processes of the worker for jobs")
    parser.add_argument("--scale", type=float, default=1.0, help="of a track's size")
    parser.add_argument("--out", type=Path, help="a file for everything as JSON")
    parser.add_argument("--folder", type=Path, help="the data folder, to be kept; else a temporary one")
    parser.add_argument("--prepare-only", action="store_true", help="fill database and folder, and no more")
    parser.add_argument("--prepared", action="store_true", help="database and folder were filled by --prepare-only")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = chosen.folder or Path(name)
        folder.mkdir(exist_ok=True)
        os.environ["MALLOC_ARENA_MAX"] = "2"  # as the image and the units have it
        house.open_house(folder, os.environ.get("DATABASE_URL", ""))
        if not chosen.prepared:
            house.collect_static_files()
            started = time.perf_counter()
            prepare(folder, chosen.scale, chosen.people)
            print(f"prepared in {time.perf_counter() - started:.0f} s", flush=True)
        if chosen.prepare_only:
            return
        result = run(folder, chosen.minutes, chosen.people, chosen.rate, chosen.web, chosen.runners)
        wrong = saved_check.check(result)
        if chosen.out:
            chosen.out.write_text(json.dumps(result | {"wrong": wrong}))
        raise SystemExit(min(report(result, wrong), 100))


if __name__ == "__main__":
    main()
