"""A database of its own for a benchmark, and a campaign in it, with people at work."""

import json
import logging
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from bench import track

if TYPE_CHECKING:
    from django.test import Client

    from assessor.accounts.models import Person
    from assessor.campaigns.models import Campaign, Condition, Import
    from assessor.work.models import Task
    from nuggets.models import NuggetBank

SLUG = "bench"
ASSESSORS = 12
NUGGETS = 60  # of the full editor, whose topic has track.RELEVANT passages
_EDITS = 40  # in the story of every other bank
_LISTED = 15  # nuggets of every other bank


def open_house(folder: Path, database: str = "") -> bool:
    """Set Django up on the real settings; make the tables where there are none, and return whether that was so.

    database: the DATABASE_URL of an empty database; without one it is SQLite in the folder.
    """
    is_new = bool(database) or not (folder / "assay.sqlite3").exists()
    os.environ |= {
        "ASSAY_LLM_HOSTS": os.environ.get("ASSAY_LLM_HOSTS", "127.0.0.1"),
        "ASSAY_SECRET_KEY": "only for benchmarks",
        "ASSAY_DATA_DIR": str(folder),
        "ASSAY_HTTPS": "0",
        "DJANGO_SETTINGS_MODULE": "assessor.settings",
    }
    os.environ["DATABASE_URL"] = database
    import django

    django.setup()
    # Of requests that are answered in this process; servers write theirs into the folder, as log_file() has it.
    logging.getLogger("assessor.requests").setLevel(logging.WARNING)
    if is_new:
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
    return is_new


def arguments(description: str, steps: Collection[str]) -> ArgumentParser:
    """Return the arguments of a benchmark whose steps are done in processes of their own, by in_a_process()."""
    parser = ArgumentParser(description=description)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--keep", type=Path, help="A folder for the database, to be used again.")
    parser.add_argument("--database", default="", help="The DATABASE_URL of an empty PostgreSQL database.")
    parser.add_argument("--step", choices=steps, help=SUPPRESS)
    return parser


def measure(chosen: Namespace, build: Callable[[Path, float], object], report: Callable[[], int]) -> NoReturn:
    """Open the house that arguments() were given, fill it where it is new, and report; exit with how much is over."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = chosen.keep or Path(name)
        if open_house(folder, chosen.database):
            collect_static_files()
            build(folder, chosen.scale)
        raise SystemExit(report())


def in_a_process(module: str, step: str) -> Any:
    """Do a step of a benchmark in the house that is open, in a process of its own; return what it tells as JSON."""
    command = [sys.executable, "-m", module, "--step", step]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def collect_static_files() -> None:
    """Do what a deployment does before it serves pages."""
    from django.core.management import call_command

    call_command("collectstatic", interactive=False, verbosity=0)


def peak() -> float:
    """Return the most memory that this process has had, in MiB.

    Not getrusage(): there a process starts with the peak of the one that started it.
    """
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024


def loop() -> float:
    """Return the CPU seconds of five million additions in Python: how fast the machine is just now."""
    start, total = time.process_time(), 0
    for number in range(5_000_000):
        total += number
    return time.process_time() - start


def percentile(took: Sequence[float], percent: int) -> float:
    """Return a percentile of times."""
    return statistics.quantiles(took, n=100, method="inclusive")[percent - 1] if len(took) > 1 else took[0]


def log_file() -> IO[bytes]:
    """Open the file to which what is started writes its log: a line for each request."""
    return (Path(os.environ["ASSAY_DATA_DIR"]) / "log").open("ab")


@contextmanager
def serve(workers: int = 1, application: str = "assessor.wsgi") -> Iterator[int]:
    """Run a web server of so many processes on the opened house; yield its port once it answers."""
    with serving(workers, application) as (port, _):
        yield port


@contextmanager
def serving(workers: int = 1, application: str = "assessor.wsgi") -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Do the same, and yield the server's process too."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", application, "--bind", f"localhost:{port}"]
    # Loaded before the port is open: a process that still loads would leave all connections to the others.
    command += ["--preload", "--workers", str(workers), "--worker-class", "gthread", "--threads", "8"]
    command += ["--log-level", "warning"]
    with log_file() as log:
        server = subprocess.Popen(command, stderr=log)
    try:
        wait_for(port, server)
        yield port, server
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return int(free.getsockname()[1])


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until a server that was started takes connections; one that makes its database first may take minutes."""
    for _ in range(3000):
        try:
            socket.create_connection(("localhost", port), 1).close()
            return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
    raise SystemExit(f"{server.args!s} did not start")


def client(someone: "Person") -> "Client":
    """Return a browser of this process's own, in which a person is signed in."""
    from django.conf import settings
    from django.test import Client

    made = Client(SERVER_NAME="localhost")
    made.force_login(someone, settings.AUTHENTICATION_BACKENDS[-1])
    return made


def session(someone: "Person") -> str:
    """Sign a person in; return the session's cookie."""
    return str(client(someone).cookies["sessionid"].value)


def person(name: str, role: str) -> "Person":
    """Make a person who can't sign in by password: benchmarks make their sessions themselves.

    An assessor belongs to every campaign there is, an organizer to what they make.
    """
    from assessor.accounts.models import Person
    from assessor.campaigns.actions import add_member
    from assessor.campaigns.models import Campaign, Role

    made = Person.objects.create_user(name, is_superuser=role == "administrator")
    for campaign in Campaign.objects.all() if role == Role.ASSESSOR else ():
        add_member(campaign=campaign, person=made, role=Role.ASSESSOR, acting_user=None)
    return made


def new_campaign(slug: str = SLUG) -> "Campaign":
    """Make a campaign with its organizer."""
    from assessor.campaigns.actions import create_campaign

    return create_campaign(name=slug.title(), slug=slug, acting_user=person(f"organizer-{slug}", "organizer"))


def load(campaign: "Campaign", part: track.Part) -> "Import":
    """Import a file of the made-up track as a person's upload is imported; it must be taken."""
    from assessor.imports import importer

    import_record = importer.new_import(
        campaign=campaign,
        kind=part.kind,
        file_name=part.path.name,
        options=part.options,
        person=None,
        check_only=False,
    )
    importer.run(import_record, part.path)
    assert import_record.state == "done", import_record.report
    return import_record


def plan(campaign: "Campaign") -> "list[Task]":
    """Give every topic to one of twelve assessors under ManualNuggets; the first one has the first topics."""
    from assessor.work.actions import give_tasks
    from nuggets.actions import create_manual_nuggets

    organizer = campaign.created_by
    source = campaign.qrels_sources.get(name=track.PEOPLE)
    condition: Condition = create_manual_nuggets(
        campaign=campaign, name="ManualNuggets", qrels_source=source, acting_user=organizer
    )
    people = [person(f"assessor-{campaign.slug}-{number}", "assessor") for number in range(ASSESSORS)]
    topics = list(campaign.topics.order_by("qid"))
    share = -(-len(topics) // ASSESSORS)
    tasks: list[Task] = []
    for number, assessor in enumerate(people):
        open_guidelines(campaign, condition.kind, assessor)
        own = topics[number * share : (number + 1) * share]
        if own:
            tasks += give_tasks(
                campaign=campaign, topics=own, condition=condition, person=assessor, acting_user=organizer
            )
    return tasks


def open_guidelines(campaign: "Campaign", kind: str, assessor: "Person") -> None:
    """Let an assessor open the guidelines, without which no labelling page opens."""
    from assessor.work.actions import guidelines

    version = guidelines.in_force(campaign, kind).version
    guidelines.open_guidelines(campaign=campaign, kind=kind, version=version, acting_user=assessor)


def give(condition: "Condition", people: "Sequence[Person]") -> "list[Task]":
    """Give all topics to people under a condition, in turn; return the tasks by topic id."""
    from assessor.work.actions import give_tasks

    tasks: list[Task] = []
    for assessor in people:
        open_guidelines(condition.campaign, condition.kind, assessor)
    for number, topic in enumerate(condition.campaign.topics.order_by("qid")):
        tasks += give_tasks(
            campaign=condition.campaign,
            topics=[topic],
            condition=condition,
            person=people[number % len(people)],
            acting_user=None,
        )
    return tasks


def work(tasks: "list[Task]") -> "NuggetBank":
    """Let everybody work: the full bank by the project's own actions, what the others hold in bulk.

    Return the full one: NUGGETS nuggets beside track.RELEVANT passages.
    """
    from assessor.work.write_protocol import Sent, once
    from nuggets.actions import add_nugget, set_importance
    from nuggets.models import NuggetBank
    from nuggets.queries import passages

    chance = random.Random(60)
    language = track.Language(chance)
    full = NuggetBank.objects.get(task=tasks[0])
    assert full.task is not None
    assessor = full.task.person

    def save(action, **fields) -> None:  # type: ignore[no-untyped-def]
        full.refresh_from_db()
        write = Sent(uuid.uuid4(), full.version, "")
        once(full.task, write, lambda: action(full, **fields, acting_user=assessor, seen=write.seen))

    seen = [passage.segment.docid for passage in passages(full)[0]]
    for number in range(NUGGETS):
        uid = uuid.uuid4()
        evidence = {"docid": seen[number % len(seen)], "start": 0, "end": 40} if number % 2 else None
        save(add_nugget, uid=uid, text=language.phrase(11), evidence=evidence)
        save(set_importance, uid=uid, importance="okay" if number % 3 else "vital")
    for number, task in enumerate(tasks[1:]):
        _fill(task, language, finished=number % 2 == 0)
    full.refresh_from_db()
    return full


def _fill(task: "Task", language: track.Language, *, finished: bool) -> None:
    """Leave in a task's bank what an assessor's day leaves: nuggets, their story, writes and reports of time."""
    from django.db import transaction
    from django.utils import timezone

    from assessor.work.models import Task, TimeSpent, Write
    from nuggets.actions import finish_bank
    from nuggets.models import BankEdit, Nugget, NuggetBank

    bank = NuggetBank.objects.select_related("maker").get(task=task)
    Nugget.objects.bulk_create(
        Nugget(bank=bank, uid=uuid.uuid4(), text=language.phrase(11), importance="vital", made_by=bank.maker)
        for _ in range(_LISTED)
    )
    BankEdit.objects.bulk_create(
        BankEdit(bank=bank, version=version, verb="reword", judge=bank.maker) for version in range(1, _EDITS + 1)
    )
    Write.objects.bulk_create(Write(key=uuid.uuid4(), person=task.person, request="") for _ in range(_EDITS))
    TimeSpent.objects.bulk_create(TimeSpent(task=task, key=uuid.uuid4(), seconds=30) for _ in range(_EDITS))
    order = [nugget.name for nugget in bank.nuggets.all()]
    NuggetBank.objects.filter(pk=bank.pk).update(version=_EDITS, order=order)
    Task.objects.filter(pk=task.pk).update(done=_LISTED, seconds=30 * _EDITS, worked_at=timezone.now())
    if finished:
        with transaction.atomic():
            handed_in = finish_bank(bank, acting_user=task.person, seen=_EDITS)
        assert "finished" in handed_in, handed_in
