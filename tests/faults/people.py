"""People at work, and a job beside them, while something happens to the installation; what stands afterwards."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench import jobs, load, saved_check
from tests.faults.world import World, patiently

PATIENCE = 150  # seconds for which a browser sends a save again; the real one does so for ever
AWAY = (502, 503, 504)
PAUSE = (0.2, 0.6)  # seconds between a person's saves: most of them meet the fault
PEOPLE = 12
RATE = 20.0
LATENCY = 0.1  # seconds of the rehearsal endpoint
JOB_ENDS = 600.0  # seconds after the people within which the job must be done


class Outcome(NamedTuple):
    """What a trial tried, and what was wrong afterwards, by what it is."""

    tried: str
    wrong: dict[str, int]


def calls_of(world: World) -> Path:
    """Return the endpoint's log."""
    return world.folder / "calls.jsonl"


def at_work(
    world: World, seconds: float, meanwhile: Callable[[], str], rate: float = RATE, pause: tuple[float, float] = PAUSE
) -> Outcome:
    """Let people label for so many seconds beside a job; do `meanwhile`, which says what it did.

    world.port: where people send what they do. rate: labels of the job in a second. pause: see PAUSE.
    """
    from django.db import connection

    from assessor.llm.models import Job

    log = calls_of(world)
    with jobs.endpoint(LATENCY, log, world.address) as url:
        job = load.launch(url, rate, seconds)
        planned = load.plan(world.port, seconds / 60, PEOPLE)
        planned |= {"patience": PATIENCE, "away": AWAY, "pause": pause}
        connection.close()
        world.start(*world.programs)
        crowd = subprocess.Popen(
            [sys.executable, "-m", "bench.crowd"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert crowd.stdin is not None
        crowd.stdin.write(json.dumps(planned))
        crowd.stdin.close()
        did = meanwhile()
        assert crowd.stdout is not None
        told = json.loads(crowd.stdout.read())
        assert crowd.wait() == 0
        patiently(lambda: Job.objects.get(pk=job.pk).state not in Job.ACTIVE, "the end of the job", JOB_ENDS)
        job.refresh_from_db()
        world.stop(*world.programs)
    if told["error_count"]:
        print(*told["errors"], sep="\n")
    wrong = {what: count for what, count in saved_check.check(told | {"job": job.pk}).items() if count}
    if told["error_count"]:
        wrong["answers that nobody should get"] = told["error_count"]
    if job.state != Job.State.DONE:
        wrong[f"job {job.state}: {job.message}"] = 1
    with log.open() as calls:
        asked = sum(json.loads(line)["event"] == "start" for line in calls)
    tried = (
        f"{did}; {len(told['saves'])} saves, {told['resent']} requests sent again ({told['sorry']} told that it can't "
        f"be had now); a job of {job.units_done} labels with {asked} calls"
    )
    return Outcome(tried, wrong)
