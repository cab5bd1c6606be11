"""Workers that are killed, and workers beside each other: by the endpoint's own log and the database."""

import json
import os
import signal
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.db import connection

from tests.llm.endpoint import RunningEndpoint
from tests.llm.house import House, broker, house, kill_all_of, wait_until

FLIGHT = 8
# Every broker on SQLite, the first with three kills; on PostgreSQL the one that teams use with it, so that both worlds
# don't take twice the time.
BROKERS = ["redis"] if connection.vendor == "postgresql" else ["embedded", "redis", "rabbitmq"]
on_sqlite = pytest.mark.skipif(connection.vendor == "postgresql", reason="the run on SQLite has it; it takes a minute")
TOPICS = 4


def fill(study: House, folder: Path, url: str, units: int, **settings: Any) -> None:
    """Load a campaign with so many pooled segments, and a judge."""
    topics = range(TOPICS)
    files = {
        "topics": "".join(f"t{topic}\twhy do cats purr\n" for topic in topics),
        "segments": "".join(
            json.dumps({"docid": f"d{number}", "segment": f"Passage {number}: cats purr, others bark."}) + "\n"
            for number in range(units)
        ),
        "retrieval_run": "".join(
            f"t{topic} Q0 d{number} {number} 1.0 run\n" for topic in topics for number in range(topic, units, TOPICS)
        ),
    }
    for kind, content in files.items():
        (folder / kind).write_text(content)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    study.manage_all(
        [
            ["create_campaign", "study"],
            *([f"import_{kind}", "study", str(folder / kind)] for kind in files),
            ["create_judge", "study", "j", "--model=m", f"--base-url={url}", f"--concurrency={FLIGHT}", *options],
        ]
    )


LAUNCH = """
from assessor.campaigns.models import Protocol
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import job_kind_named

Protocol.objects.update(pool_depth=1_000)  # all that were retrieved
judge = ModelJudge.objects.select_related("judge", "campaign").get()
topics = list(judge.campaign.topics.all())
plan = plan_job(kind=job_kind_named("UMBRELA"), judge=judge, name="U", qrels_source=None, topics=topics)
launch(plan, most_calls=None, most_cost=None, acting_user=None)
"""


def is_done(study: House) -> bool:
    return study.rows("select state from llm_job") == [("done",)]


def check_everything(study: House, server: RunningEndpoint, units: int, repeats: int) -> None:
    """Every unit done once, its grade there once, no answer paid twice, at most so many requests sent again."""
    assert study.rows("select units_done, units_failed from llm_job") == [(units, 0)]
    assert study.rows("select state, count(*) from llm_unit group by state") == [("done", units)]
    judged = study.rows("select topic_id, docid from relevance_relevancejudgment")
    assert len(judged) == units == len(set(judged))
    begun = server.begun()
    sent = Counter(call["request"] for call in begun)
    assert len(sent) == units
    assert sum(sent.values()) - units <= repeats
    stored = dict(study.rows("select request, at from llm_call where outcome = 'good'"))
    assert len(stored) == units
    # Nothing was sent whose response had been stored.
    assert [call for call in begun if call["start"] > _seconds(stored[call["request"]])] == []
    wait_until(lambda: not study.rows("select * from llm_runner"), "all runners have left", 15)


def _seconds(at: datetime | str) -> float:
    """Return a time of the database in seconds since 1970."""
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@pytest.mark.django_db
@pytest.mark.parametrize("kind", BROKERS)
def test_a_job_survives_kills_of_its_workers(kind: str, tmp_path: Path):
    units = 240
    kills = 3 if kind == BROKERS[0] else 1
    server = RunningEndpoint(latency=0.1)
    try:
        with broker(kind, tmp_path / "broker") as url, house(tmp_path / "data", url) as study:
            fill(study, tmp_path, server.base_url, units)
            workers = [study.start_worker(), study.start_worker()]
            study.run(LAUNCH)
            for kill in range(1, kills + 1):
                wait_until(lambda kill=kill: len(server.ended()) >= kill * units // 5, f"work before kill {kill}", 60)
                kill_all_of(*workers)
                assert len(server.ended()) < units
                workers = [study.start_worker(), study.start_worker()]
            wait_until(lambda: is_done(study), "the end of the job", 90)
            check_everything(study, server, units, repeats=kills * FLIGHT)
    finally:
        server.stop()


@pytest.mark.django_db
def test_a_killed_child_is_taken_up_without_a_restart(tmp_path: Path):
    """Of two workers one goes on while the other's child is killed."""
    units = 200
    server = RunningEndpoint(latency=0.1)
    try:
        with house(tmp_path / "data", "embedded://") as study:
            fill(study, tmp_path, server.base_url, units)
            workers = [study.start_worker(), study.start_worker()]
            study.run(LAUNCH)
            wait_until(lambda: len(server.ended()) >= units // 4, "work before the kill", 60)
            [child, *_] = psutil.Process(workers[0].pid).children()
            assert child.nice() == min(19, os.nice(0) + 10), "people go first where a processor is wanted"
            os.kill(child.pid, signal.SIGKILL)
            wait_until(lambda: is_done(study), "the end of the job", 90)
            check_everything(study, server, units, repeats=FLIGHT)
    finally:
        server.stop()


@pytest.mark.django_db
def test_a_worker_that_is_told_to_stop_ends_with_what_is_in_flight(tmp_path: Path):
    units = 300
    server = RunningEndpoint(latency=0.2)
    try:
        with house(tmp_path / "data", "embedded://") as study:
            fill(study, tmp_path, server.base_url, units)
            worker = study.start_worker()
            study.run(LAUNCH)
            wait_until(lambda: len(server.ended()) >= 20, "work before the stop", 60)
            worker.terminate()
            worker.wait(timeout=8)
            assert len(server.ended()) < units // 2
            wait_until(lambda: not study.rows("select * from llm_runner"), "the runner has left", 1)
            assert study.rows("select state from llm_job") == [("running",)]
            study.start_worker()
            wait_until(lambda: is_done(study), "the end of the job", 60)
            check_everything(study, server, units, repeats=0)
    finally:
        server.stop()


@on_sqlite
@pytest.mark.django_db
def test_two_workers_keep_to_the_limits_of_their_judge_together(tmp_path: Path):
    """600 requests a minute and 8 in flight: never more in any 60 s, and not much less either."""
    units = 630
    server = RunningEndpoint(latency=0.3, jitter=0.8)
    try:
        with house(tmp_path / "data", "embedded://") as study:
            fill(study, tmp_path, server.base_url, units, requests_per_minute=600)
            study.start_worker(), study.start_worker()
            study.run(LAUNCH)
            wait_until(lambda: len(server.ended()) >= units, "all requests", 120)
            wait_until(lambda: is_done(study), "the end of the job", 30)
            check_everything(study, server, units, repeats=0)
    finally:
        server.stop()
    begun = sorted(call["start"] for call in server.begun())
    assert max(call["in_flight"] for call in server.begun()) == FLIGHT
    most = max(sum(first <= start < first + 60 for start in begun) for first in begun)
    assert 500 < most <= 600
