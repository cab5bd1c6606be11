"""The faults. Each trial gets a world with a campaign as it was prepared, and says what was wrong afterwards."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from bench import house
from tests.faults import files, network, replies
from tests.faults.people import Outcome, at_work
from tests.faults.world import PROGRAMS, World, wrong_clock
from tests.llm.endpoint import ROOT

SECONDS = 45.0  # that people work
DOWN = 1.5  # seconds for which what was killed is away
EVERY = 8.0  # seconds between two kills
TIMES = 4
SMALL_DISK = 24  # MiB more than what is there
BACK = 3600  # seconds by which the clock is set back

FULL = ("No space left on device", "File too large", "disk is full", "disk I/O error")  # what a page says then

Trial = Callable[[World], Outcome]


def killing(world: World, *names: str) -> Callable[[], str]:
    """Return what kills some processes and starts them again after a while."""

    def kill() -> str:
        world.kill(*names)
        time.sleep(DOWN)
        world.start(*names)
        return f"SIGKILL of {', '.join(names)}"

    return kill


def repeated(fault: Callable[[], str]) -> Callable[[], str]:
    """Return what lets a fault happen TIMES times."""

    def happen() -> str:
        did = ""
        for _ in range(TIMES):
            time.sleep(EVERY)
            did = fault()
        return f"{did}, {TIMES} times"

    return happen


# ---- killed ----


def labelling_and_web(world: World) -> Outcome:
    return at_work(world, SECONDS, repeated(killing(world, "web")))


def labelling_and_workers(world: World) -> Outcome:
    return at_work(world, SECONDS, repeated(killing(world, "imports", "jobs", "beat")))


def labelling_and_broker(world: World) -> Outcome:
    return at_work(world, SECONDS, repeated(killing(world, "broker")))


def labelling_and_database(world: World) -> Outcome:
    return at_work(world, SECONDS, repeated(killing(world, "database")))


def labelling_and_everything(world: World) -> Outcome:
    return at_work(world, SECONDS, repeated(killing(world, *world.servers, *PROGRAMS)))


def import_and_worker(world: World) -> Outcome:
    return files.import_under(world, killing(world, "imports"), 2)


def import_and_broker(world: World) -> Outcome:
    return files.import_under(world, killing(world, "broker"), 2)


def import_and_database(world: World) -> Outcome:
    return files.import_under(world, killing(world, "database"), 2)


def import_and_web(world: World) -> Outcome:
    return files.import_under(world, killing(world, "web"), 2)


def export_and_worker(world: World) -> Outcome:
    return files.export_under(world, killing(world, "imports"), 2)


def export_and_database(world: World) -> Outcome:
    return files.export_under(world, killing(world, "database"), 2)


def export_and_everything(world: World) -> Outcome:
    return files.export_under(world, killing(world, *world.servers, *PROGRAMS), 2)


# ---- a full disk ----


@contextmanager
def small_disk(folder: Path) -> Iterator[str]:
    """Have a folder on a disk of its own with little room; where mounting is refused, files may not grow."""
    used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20
    size = int(used) + SMALL_DISK
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", str(folder)]
    if subprocess.run(command, check=False, capture_output=True).returncode == 0:
        subprocess.run(["cp", "-a", f"{aside}/.", str(folder)], check=True)
        try:
            yield "a disk that is full"
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        return
    folder.rmdir()
    aside.rename(folder)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # What is started from here on inherits it.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size << 20, before[1]))
    try:
        yield f"files may not be larger than {size} MiB"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Filled:
    """What takes up the room that is left."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "filled"

    def fill(self, leave: int = 0) -> None:
        """Take up all room but so many bytes."""
        with self._path.open("wb") as out, suppress(OSError):
            while True:
                out.write(bytes(1 << 20))
                out.flush()
        free = os.statvfs(self._path.parent)
        size = self._path.stat().st_size + free.f_bavail * free.f_frsize
        os.truncate(self._path, max(0, size - leave))

    def free(self) -> None:
        self._path.unlink(missing_ok=True)


def full_twice(folder: Path, how: str, afterwards: Callable[[], None] = lambda: None) -> str:
    """Fill a small disk for a while, twice; say so."""
    filled = Filled(folder)
    for _ in range(2):
        time.sleep(EVERY)
        filled.fill()
        time.sleep(2 * EVERY)
        filled.free()
        afterwards()
    return f"{how}, for {2 * EVERY:.0f} s, twice"


def disk_and_labelling(world: World) -> Outcome:
    """Only where the database is on the data folder's disk do labels need room there."""
    with small_disk(world.data) as how:
        return at_work(world, SECONDS, lambda: full_twice(world.data, how))


def disk_of_the_database(world: World) -> Outcome:
    """PostgreSQL's own disk is full; should it end by that, it is started again, as a service manager does."""
    close()
    world.stop("database")
    with small_disk(world.folder / "postgres") as how:
        world.start("database")
        ended = 0

        def started_again() -> None:
            nonlocal ended
            if not world.runs("database"):
                ended += 1
                world.start("database")

        def full() -> str:
            did = full_twice(world.folder / "postgres", how, started_again)
            return f"{did}, by which PostgreSQL ended {ended} times"

        outcome = at_work(world, SECONDS, full)
        close()
        world.stop("database")
    return outcome


def disk_and_import(world: World) -> Outcome:
    from assessor.campaigns.models import Campaign, Import

    wrong: dict[str, int] = {}
    with small_disk(world.data) as how:
        filled = Filled(world.data)
        world.start(*PROGRAMS)
        organizer = files.Organizer(world)
        campaign = Campaign.objects.get(slug=house.SLUG)
        before = campaign.topics.count()
        # No room for the upload itself.
        organizer.get(f"{organizer.base}imports/")
        filled.fill(leave=200_000)
        answer = files.send(organizer, files.topics())
        wrong["uploads that fail without a word"] = int(
            answer.status_code not in (503, 507) or "<h1" not in answer.text
        )
        filled.free()
        # Room for the upload, and for a part of what it brings.
        upload = len(files.topics())
        filled.fill(leave=upload + 600_000)
        answer = files.send(organizer, files.topics(files.LINES))
        said = "refused"
        if answer.status_code == 302:
            import_record = Import.objects.latest("pk")
            with suppress(AssertionError):
                files.wait_for_the_end(import_record, 45)
            filled.free()
            files.wait_for_the_end(import_record)
            said = f"{import_record.state} in {import_record.attempts} attempts"
            page = organizer.get(answer.headers["location"])
            words = ("Everything is imported and visible.", *FULL)
            wrong["reports without a word"] = int(not any(word in page.text for word in words))
            came = campaign.topics.count() - before
            wrong["topics lost or doubled"] = abs(came - (files.LINES if import_record.state == "done" else 0))
        filled.free()
        before = campaign.topics.count()
        answer = files.send(organizer, files.topics(2 * files.LINES))
        again = Import.objects.latest("pk")
        files.wait_for_the_end(again)
        wrong["imports lost"] = int(again.state != "done" or campaign.topics.count() - before != files.LINES)
        wrong["files left"] = files.left(world, "uploads")
        world.stop(*PROGRAMS)
        close()
    return Outcome(
        f"{how}: an upload refused; one that ends {said}; one with room again",
        {what: count for what, count in wrong.items() if count},
    )


def disk_and_export(world: World) -> Outcome:
    from assessor.exports.models import Export

    wrong: dict[str, int] = {}
    source, lines = files.add_grades(world.folder)
    close()
    with small_disk(world.data) as how:
        filled = Filled(world.data)
        world.start(*PROGRAMS)
        organizer = files.Organizer(world)
        organizer.get(f"{organizer.base}exports/")
        filled.fill(leave=1_500_000)
        made = files.ask(organizer, source).headers["location"]
        export = Export.objects.latest("pk")
        files.wait_for_the_end(export)
        wrong["exports that fail otherwise"] = int(export.state != "failed")
        wrong["pages without a word"] = int(not any(word in organizer.get(made).text for word in FULL))
        wrong["files left"] = len(files.parts(world))
        filled.free()
        made = files.ask(organizer, source).headers["location"]
        wrong["files lost or wrong"] = int(sorted(files.taken(organizer, made).splitlines()) != lines)
        world.stop(*PROGRAMS)
        close()
    return Outcome(
        f"{how}: an export of {len(lines):,} lines that ends “{export.why}”; one with room again",
        {what: count for what, count in wrong.items() if count},
    )


def close() -> None:
    """Let go of the database, whose disk goes away."""
    from django.db import connection

    connection.close()


# ---- the clock, what hangs, the network ----


def clock(world: World) -> Outcome:
    """All processes start again with a clock that was set back by an hour, in the middle of the work."""

    def set_back() -> str:
        time.sleep(SECONDS / 3)
        world.stop(*PROGRAMS)
        world.start(*PROGRAMS, env=wrong_clock(-BACK))
        time.sleep(SECONDS / 3)
        world.stop(*PROGRAMS)
        world.start(*PROGRAMS)
        return f"web, workers and beat went on with a clock {BACK // 60} minutes back, and then with the right one"

    return at_work(world, SECONDS, set_back)


def hung(world: World) -> Outcome:
    """A child of the worker for jobs and one of the web's hang, and wake up when others have done their work."""
    hang = 90.0

    def stop() -> str:
        time.sleep(EVERY)
        _, *children = world.family("jobs")
        _, *served = world.family("web")
        asleep = [children[0], served[0]]
        for one in asleep:
            one.suspend()
        time.sleep(hang)
        for one in asleep:
            with suppress(psutil.NoSuchProcess):
                one.resume()
        return f"SIGSTOP of a process of the web and of one of the jobs for {hang:.0f} s"

    return at_work(world, hang + SECONDS, stop)


def dropped(world: World) -> Outcome:
    with network.running(network.Dropping(world.port)) as proxy:
        world.port = proxy.port
        outcome = at_work(world, SECONDS, lambda: "the rest sent on")
        return Outcome(
            f"{proxy.dropped} of {proxy.pieces} requests or halves of one dropped; {outcome.tried}", outcome.wrong
        )


# ---- migrations ----


def migration(world: World) -> Outcome:
    """Make the tables of empty databases, killed in the middle, and restore there what people have done.

    Of the first at once; of the others one migration after another, as one app has its tables already.
    """
    worked = at_work(world, SECONDS / 3, lambda: "people at work before")
    close()
    first = world.folder / "first.zip"
    manage(world.env, "archive_campaign", house.SLUG, "-o", str(first))
    chance, kills, runs, differ = random.Random(6), 0, 0, 0
    for at in range(3):
        env = world.env | world.empty_database(f"empty{at}")
        if at:
            manage(env, "migrate", "--verbosity=0", "contenttypes")
        while True:
            runs += 1
            process = subprocess.Popen(
                [sys.executable, "manage.py", "migrate", "--verbosity=0"], cwd=ROOT, env=os.environ | env
            )
            try:
                code = process.wait(timeout=chance.uniform(1.0, 5.0) if at else chance.uniform(0.8, 2.0))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                continue
            assert code == 0
            break
        second = world.folder / f"second{at}.zip"
        manage(env, "restore_archive", str(first))
        manage(env, "archive_campaign", house.SLUG, "-o", str(second))
        differ += first.read_bytes() != second.read_bytes()
    tried = f"{worked.tried}; then three empty databases migrated, {runs} times begun, of which {kills} killed"
    return Outcome(tried, worked.wrong | ({"archives that differ": differ} if differ else {}))


def manage(env: dict[str, str], *words: str) -> None:
    command = [sys.executable, "manage.py", *words]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


EVERYWHERE: dict[str, Trial] = {
    "labelling, web killed": labelling_and_web,
    "labelling, workers killed": labelling_and_workers,
    "labelling, everything killed": labelling_and_everything,
    "import, worker killed": import_and_worker,
    "import, web killed": import_and_web,
    "export, worker killed": export_and_worker,
    "export, everything killed": export_and_everything,
    "labelling, disk full": disk_and_labelling,
    "import, disk full": disk_and_import,
    "export, disk full": disk_and_export,
    "clock set back": clock,
    "processes that hang": hung,
    "network that drops": dropped,
    "replies without end": replies.without_end,
    "migration killed": migration,
}
WITH_SERVERS: dict[str, Trial] = {
    "labelling, broker killed": labelling_and_broker,
    "labelling, database killed": labelling_and_database,
    "labelling, the database's disk full": disk_of_the_database,
    "import, broker killed": import_and_broker,
    "import, database killed": import_and_database,
    "export, database killed": export_and_database,
}
TRIALS = EVERYWHERE | WITH_SERVERS
