"""Launches whose units are made in many short transactions, between which others save, and of which some are killed."""

import json
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from assessor.campaigns.models import Campaign, Condition, Event, Topic
from assessor.labels.queries import topics_at_work
from assessor.llm import actions, preparation
from assessor.llm.actions import JobError
from assessor.llm.models import Job, Unit
from assessor.llm.runner import run_job
from tests.llm.endpoint import RunningEndpoint
from tests.llm.grading import Grading, graded, make_job, make_judge
from tests.llm.house import House, house, wait_until
from tests.llm.test_killed import LAUNCH, is_done

TOPICS = 25  # of which seven at once get their units
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study(empty_campaign: Campaign, import_file) -> Campaign:
    topics = "".join(f"t{number:02}\tcats purr {number}\n" for number in range(TOPICS))
    assert import_file(empty_campaign, "topics", topics).state == "done"
    return empty_campaign


@pytest.fixture
def between(monkeypatch) -> Callable[[Callable[[], Any]], list[Any]]:
    """Have something done after each transaction of a launch, by somebody else; return what comes of it each time."""

    def have(work: Callable[[], Any]) -> list[Any]:
        came: list[Any] = []

        def elsewhere() -> Any:
            try:
                return work()
            finally:
                connection.close()

        def have_done(seconds: float) -> None:
            if not connection.in_atomic_block:
                with ThreadPoolExecutor(1) as somebody:
                    came.append(somebody.submit(elsewhere).result())

        monkeypatch.setattr(preparation, "let_others_write", have_done)
        return came

    return have


def test_a_transaction_makes_no_more_than_so_many_units_and_others_save_in_between(study, between, monkeypatch):
    monkeypatch.setattr(preparation, "MOST_UNITS", 4)

    def save() -> tuple[int, int]:
        Campaign.objects.update(name=f"saved at {Unit.objects.count()}")
        return Unit.objects.count(), len(Job.objects.get().topics_left)

    seen = between(save)
    job = make_job(make_judge(study))
    # The first four come with the job itself: a condition for which there is nothing to do is not made.
    assert seen == [(7, 18), (11, 18), (14, 11), (18, 11), (21, 4), (25, 4), (25, 0)]
    assert (job.units_total, job.topics_left, job.state) == (TOPICS, [], Job.State.WAITING)
    assert list(job.units.values_list("topic__qid", flat=True)) == [f"t{number:02}" for number in range(TOPICS)]
    study.refresh_from_db()
    assert study.name == "saved at 25"
    assert [event.details["units"] for event in Event.objects.filter(verb="job launched")] == [TOPICS]


def test_a_launch_beside_another_is_refused_while_units_are_made(study, between):
    judge = make_judge(study)

    def launch_too() -> str:
        with pytest.raises(JobError) as error:
            make_job(judge)
        return str(error.value)

    refused = between(launch_too)
    job = make_job(judge)
    assert refused == [f"Job {job.pk} works under by j and is waiting for a worker."] * 3
    assert (Job.objects.count(), Unit.objects.count()) == (1, TOPICS)


def test_topics_whose_units_are_still_to_be_made_are_at_work(study, between):
    def at_work() -> int:
        [condition] = Condition.objects.all()
        return len(topics_at_work(condition, Topic.objects.values_list("pk", flat=True)))

    seen = between(at_work)
    job = make_job(make_judge(study))
    assert seen == [TOPICS, TOPICS, TOPICS]
    Unit.objects.all().delete()
    assert topics_at_work(job.condition, Topic.objects.values_list("pk", flat=True)) == set()


def test_a_job_that_is_paused_before_all_its_units_are_made_makes_the_others_once_it_is_resumed(
    study, between, endpoint
):
    pause_once = iter([lambda job: actions.pause(job=job, acting_user=study.created_by)])
    between(lambda: next(pause_once, lambda job: None)(Job.objects.get()))
    job = make_job(make_judge(study, endpoint().base_url))
    assert (job.state, job.units_total, len(job.topics_left), job.percent) == (Job.State.PAUSED, 14, 11, 0)
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.units_total, job.units_done) == (Job.State.PAUSED, 14, 0)
    actions.resume(job=job, acting_user=study.created_by)
    run_job(job.pk, lambda: True)
    job.refresh_from_db()
    assert (job.state, job.units_total, job.units_done) == (Job.State.WAITING, 21, 0), "told to stop: nothing is asked"
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.units_total, job.units_done) == (Job.State.DONE, 25, 25)
    assert len(graded(study)) == TOPICS
    verbs = ["job paused", "job resumed", "job launched", "job done"]
    assert list(Event.objects.filter(verb__startswith="job").order_by("pk").values_list("verb", flat=True)) == verbs


def test_a_job_that_is_cancelled_before_all_its_units_are_made_makes_no_more_and_blocks_none(study, between):
    judge = make_judge(study)
    cancel_once = iter([lambda job: actions.cancel(job=job, acting_user=study.created_by)])
    between(lambda: next(cancel_once, lambda job: None)(Job.objects.latest("pk")))
    job = make_job(judge)
    assert (job.state, job.units_total, len(job.topics_left)) == (Job.State.CANCELLED, 14, 11)
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.units_total) == (Job.State.CANCELLED, 14)
    assert topics_at_work(job.condition, Topic.objects.values_list("pk", flat=True)) == set()
    again = make_job(judge)
    assert (again.state, again.units_total) == (Job.State.WAITING, TOPICS)
    assert set(again.units.values_list("round", flat=True)) == {1}


def test_a_job_never_ends_before_all_its_units_are_made(study, endpoint):
    job = make_job(make_judge(study, endpoint().base_url))
    job.units.filter(topic__qid="t24").delete()
    Job.objects.update(units_total=24, units_done=24, topics_left=["t24"], state=Job.State.RUNNING)
    job.units.update(state=Unit.State.DONE)
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.units_total, job.units_done) == (Job.State.DONE, 25, 25)
    assert list(graded(study)) == ["t24"]


def test_where_there_is_nothing_to_do_nothing_is_left_behind(study, monkeypatch):
    judge = make_judge(study)
    done = make_job(judge)
    Job.objects.update(state=Job.State.DONE)
    monkeypatch.setattr(Grading, "units", lambda self, condition, topics: iter(()))
    with pytest.raises(JobError, match="There is nothing to do: all of it is done under by j"):
        make_job(judge)
    with pytest.raises(JobError, match="There is nothing to do: all of it is done under by j 3"):
        make_job(judge, replicate=3)
    assert list(Job.objects.all()) == [done]
    assert Condition.objects.count() == 1
    assert Event.objects.filter(verb="job launched").count() == 1


# --- Processes


@contextmanager
def nobody_else_writes(study: House) -> Iterator[Callable[[str], list[Any]]]:
    """Hold what a launch needs to go on; yield what asks and saves."""
    if study.env["DATABASE_URL"]:
        with psycopg.connect(study.env["DATABASE_URL"].replace("postgres:", "postgresql:", 1)) as database:
            database.execute("select * from llm_job for update")
            yield lambda sql: rows.fetchall() if (rows := database.execute(sql)).description else []
        return
    path = Path(study.env["ASSAY_DATA_DIR"]) / "assay.sqlite3"
    # No patience at all: it looks every millisecond, and finds the lock free between two transactions.
    database = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        until = time.monotonic() + 20
        while True:
            try:
                database.execute("begin immediate")
                break
            except sqlite3.OperationalError:
                assert time.monotonic() < until
                time.sleep(0.001)
        yield lambda sql: database.execute(sql).fetchall()
        database.execute("commit")
    finally:
        database.close()


def stop_half_way(study: House, launch: "subprocess.Popen[Any]") -> tuple[int, int]:
    """Save something in the midst of a launch and kill it; return the numbers of units made and of topics left."""
    while launch.poll() is None:
        with nobody_else_writes(study) as ask:
            for units, left in ask("select units_total, topics_left from llm_job"):
                if json.loads(left):
                    ask("update campaigns_campaign set name = 'saved'")
                    launch.send_signal(signal.SIGKILL)
                    launch.wait()
                    return units, len(json.loads(left))
        time.sleep(0.001)
    raise AssertionError("the launch ended before it could be killed")


def test_workers_make_what_a_killed_launch_left(tmp_path: Path):
    topics = 400
    server = RunningEndpoint(latency=0)
    try:
        with house(tmp_path / "data", "embedded://") as study:
            files = {
                "topics": "".join(f"t{number:03}\twhy do cats purr\n" for number in range(topics)),
                "segments": "".join(f'{{"docid": "d{n}", "segment": "Passage {n}: cats purr."}}\n' for n in range(8)),
                "retrieval_run": "".join(f"t{number:03} Q0 d{number % 8} 1 1.0 run\n" for number in range(topics)),
            }
            for kind, content in files.items():
                (tmp_path / kind).write_text(content)
            judge = ["create_judge", "study", "j", "--model=m", f"--base-url={server.base_url}", "--concurrency=8"]
            imports = [[f"import_{kind}", "study", str(tmp_path / kind)] for kind in files]
            study.manage_all([["create_campaign", "study"], *imports, judge])
            code = f"from assessor.llm.models import *\n{LAUNCH}"
            launch = study.start("shell", "--verbosity=0", "--no-imports", "-c", code)
            made, left = stop_half_way(study, launch)
            assert 0 < made == topics - left < topics
            assert study.rows("select name from campaigns_campaign") == [("saved",)]
            assert study.rows("select state, units_total from llm_job") == [("waiting", made)]
            assert study.rows("select count(*) from campaigns_event where verb = 'job launched'") == [(0,)]
            study.start_worker()
            wait_until(lambda: is_done(study), "the end of the job", 120)
            assert study.rows("select units_total, units_done, units_failed, topics_left from llm_job") == [
                (topics, topics, 0, "[]")
            ]
            judged = study.rows("select topic_id, docid from relevance_relevancejudgment")
            assert len(judged) == topics == len({topic for topic, _ in judged})
            assert study.rows("select count(*) from campaigns_event where verb = 'job launched'") == [(1,)]
    finally:
        server.stop()
