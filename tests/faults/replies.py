"""Endpoints whose replies never end, or hardly: what a worker and the web process take of memory for them."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from bench import load
from tests.faults.files import Organizer
from tests.faults.people import Outcome
from tests.faults.world import PROGRAMS, World, patiently
from tests.llm.endpoint import RunningEndpoint

GROWTH = {"web": 16, "imports": 64, "jobs": 64}  # MiB that a process may grow by
IN_FLIGHT = 8  # requests of each of the two processes for jobs
TIMEOUT = 5  # seconds of the judge
SECONDS = 20.0  # for which each endpoint is asked
TOO_LONG = "longer than 2 MiB"
# Knobs of the endpoint, and what the judge's page says of a trial. The first one is a good one: what a process takes
# for its first requests is not counted.
ENDPOINTS: tuple[tuple[dict[str, float], str], ...] = (
    ({"latency": 0.2}, "It works"),
    ({"endless_rate": 1}, TOO_LONG),
    ({"gzip_bomb_rate": 1}, TOO_LONG),
    ({"drip_rate": 1}, f"No answer within {TIMEOUT} s"),
)


def without_end(world: World) -> Outcome:
    """Let a job and a trial ask each endpoint, and see how much larger any process became than by the good one."""
    world.start(*PROGRAMS)
    children = {"web": 2, "imports": 1, "jobs": 2}
    for name, count in children.items():
        patiently(lambda name=name, count=count: len(world.family(name)) > count, f"{name} at work", 60)  # type: ignore[misc]
    wrong: dict[str, int] = {}
    usual: dict[str, dict[int, int]] = {}
    most = dict.fromkeys(GROWTH, 0.0)
    for knobs, words in ENDPOINTS:
        endpoint = RunningEndpoint(**knobs)
        try:
            with watched(world) as peaks:
                page = asked(world, endpoint)
        finally:
            endpoint.stop()
        what = next(iter(knobs))
        wrong[f"pages of {what} without a word"] = int(words not in page)
        if not usual:
            usual = {name: dict(sizes) for name, sizes in peaks.items()}
            continue
        for name, sizes in peaks.items():
            # A process in the place of one that a task left large is held against the largest of those before.
            before = max(usual[name].values())
            grown = max(size - usual[name].get(pid, before) for pid, size in sizes.items()) / 2**20
            most[name] = max(most[name], grown)
            wrong[f"MiB too many of {name} by {what}"] = max(0, round(grown - GROWTH[name]))
    world.stop(*PROGRAMS)
    grown_by = ", ".join(f"{name} by {size:.0f} MiB" for name, size in most.items())
    return Outcome(
        f"{IN_FLIGHT} endless replies, gzip bombs and slow drips in flight in a process: it grew, {grown_by}",
        {what: count for what, count in wrong.items() if count},
    )


def asked(world: World, endpoint: RunningEndpoint) -> str:
    """Have both processes for jobs ask an endpoint, and the organizer try it; return what the judge's page says."""
    from django.db import transaction

    from assessor.llm import actions
    from assessor.llm.models import ModelJudge

    with transaction.atomic():
        job = load.launch(endpoint.base_url, 100.0, SECONDS)
        asking = {"concurrency": 2 * IN_FLIGHT, "requests_per_minute": None, "timeout": TIMEOUT}
        ModelJudge.objects.filter(pk=job.judge_id).update(**asking)
    seats = job.runners.filter(seats=IN_FLIGHT)
    patiently(lambda: seats.count() == 2, "both processes at the job", 60)
    organizer = Organizer(world)
    address = f"{organizer.base}judges/{job.judge_id}/"
    until = time.monotonic() + SECONDS
    organizer.get(address)  # for the form's token
    organizer.post(f"{address}try/", {})
    # As another browser each time, so that both of the web's processes get to know the page.
    while "every 1s" in (page := Organizer(world).get(address).text) or time.monotonic() < until:
        time.sleep(0.1)
    job.refresh_from_db()
    if not job.is_over:
        actions.cancel(job=job, acting_user=job.campaign.created_by)
    patiently(lambda: not job.runners.exists(), "the end of the job", 60)
    return page


@contextmanager
def watched(world: World) -> Iterator[dict[str, dict[int, int]]]:
    """Look at the memory of all processes again and again; give the largest sizes, by program and process."""
    peaks: dict[str, dict[int, int]] = {name: {} for name in GROWTH}
    families = {name: world.family(name) for name in GROWTH}
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(0.02):
            for name, processes in families.items():
                for process in processes:
                    with suppress(psutil.NoSuchProcess):
                        size = process.memory_info().rss
                        peaks[name][process.pid] = max(size, peaks[name].get(process.pid, 0))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        is_over.set()
        thread.join()
