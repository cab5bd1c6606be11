"""Who does which unit, and what happens to those of the dead."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from assessor.campaigns.models import Answer, Campaign
from assessor.llm import claims, tasks
from assessor.llm.job_kind import UnitFailure
from assessor.llm.models import Job, Runner, Unit
from assessor.runtime import processes
from tests.llm.grading import graded, make_job, make_judge


@pytest.fixture
def job(empty_campaign: Campaign, import_file) -> Job:
    topics = "".join(f"t{number:02}\tquestion {number}\n" for number in range(40))
    import_file(empty_campaign, "topics", topics)
    job = make_job(make_judge(empty_campaign))
    Job.objects.update(state=Job.State.RUNNING)
    job.refresh_from_db()
    return job


def runner_of(job: Job, owner: str | None = None, **fields) -> Runner:
    values = {"owner": owner or processes.me(), "alive_at": timezone.now()} | fields
    return Runner.objects.create(job=job, judge=job.judge, **values)


def states(job: Job) -> dict[str, int]:
    counts = {state: job.units.filter(state=state).count() for state in Unit.State.values}
    return {state: count for state, count in counts.items() if count}


def finish(runner: Runner, job: Job, *ended) -> None:
    with transaction.atomic():
        Job.count(job.pk, **claims.finish(runner, job, ended))


def test_units_are_claimed_in_order_and_once(job: Job):
    first, second = runner_of(job), runner_of(job)
    mine = claims.claim(first, 15)
    theirs = claims.claim(second, 30)
    assert [unit.topic.qid for unit in mine] == [f"t{number:02}" for number in range(15)]
    assert [unit.topic.qid for unit in theirs] == [f"t{number:02}" for number in range(15, 40)]
    assert claims.claim(first, 5) == []
    assert {unit.attempts for unit in mine + theirs} == {1}


def test_a_unit_is_there_once_of_a_topic_and_once_of_each_answer(job: Job, import_file):
    topic = job.campaign.topics.get(qid="t00")
    sentence = {"text": "Cats purr.", "citations": []}
    for tag in ("team.one", "team.two"):
        line = {"run_id": tag, "topic_id": "t00", "topic": "t00", "references": [], "answer": [sentence]}
        assert import_file(job.campaign, "runs", [line], name=tag).state == "done"
    first, second = Answer.objects.order_by("run__tag")
    Unit.objects.bulk_create(
        Unit(job=job, topic=topic, answer=answer, item=item) for answer in (first, second) for item in ("", "2.0")
    )
    for answer, item in ((None, ""), (first, ""), (second, "2.0")):
        with pytest.raises(IntegrityError), transaction.atomic():
            Unit.objects.create(job=job, topic=topic, answer=answer, item=item)
    told = job.units.filter(topic=topic).order_by("pk").values_list("answer__run__tag", "item")
    assert list(told) == [(None, ""), ("team.one", ""), ("team.one", "2.0"), ("team.two", ""), ("team.two", "2.0")]


@pytest.mark.django_db(transaction=True)
def test_however_they_race_no_unit_is_claimed_twice(job: Job):
    runners = [runner_of(job) for _ in range(8)]

    def take(runner: Runner) -> list[int]:
        try:
            taken: list[int] = []
            while units := claims.claim(runner, 3):
                taken += [unit.pk for unit in units]
            return taken
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        taken = [pk for some in pool.map(take, runners) for pk in some]
    assert sorted(taken) == sorted(job.units.values_list("pk", flat=True))


def test_done_and_failed_units_are_counted_in_the_transaction_that_stores_them(job: Job):
    runner = runner_of(job)
    one, other, third = claims.claim(runner, 3)
    finish(runner, job, (one, 2), (other, UnitFailure("too long")), (third, 0))
    job.refresh_from_db()
    assert (job.units_done, job.units_failed, job.state) == (2, 1, Job.State.RUNNING)
    assert graded(job.campaign) == {"t00": 2, "t02": 0}
    other.refresh_from_db()
    assert (other.state, other.error, other.runner) == (Unit.State.FAILED, "too long", None)


def test_a_unit_that_was_taken_from_a_runner_is_not_stored_by_it(job: Job):
    slow, quick = runner_of(job), runner_of(job)
    [unit] = claims.claim(slow, 1)
    claims.leave(slow)  # as if it had been taken for dead
    [again] = claims.claim(quick, 1)
    assert again.pk == unit.pk
    finish(slow, job, (unit, 3))
    assert graded(job.campaign) == {}
    finish(quick, job, (again, 1))
    finish(quick, job, (again, 1))  # told twice
    job.refresh_from_db()
    assert (graded(job.campaign), job.units_done) == ({"t00": 1}, 1)


def test_the_last_unit_ends_the_job(job: Job):
    runner = runner_of(job)
    units = claims.claim(runner, 40)
    finish(runner, job, *((unit, 1) for unit in units[:-1]))
    claims.end_if_all_is_done(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.RUNNING
    finish(runner, job, (units[-1], UnitFailure("no")))
    claims.end_if_all_is_done(job.pk)
    job.refresh_from_db()
    assert (job.state, job.units_done, job.units_failed) == (Job.State.DONE, 39, 1)
    assert job.ended_at is not None
    assert job.campaign.events.first().verb == "job done"


def test_who_leaves_gives_back_what_it_had_not_done(job: Job):
    runner = runner_of(job)
    one, *_ = claims.claim(runner, 10)
    finish(runner, job, (one, 1))
    claims.leave(runner)
    assert states(job) == {"waiting": 39, "done": 1}
    assert not Runner.objects.exists()


def dead_process() -> str:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = processes.identity(process.pid)
    process.kill()
    process.wait()
    return owner


def test_the_units_of_a_killed_process_wait_again(job: Job):
    claims.claim(runner_of(job, dead_process()), 10)
    living = runner_of(job)
    claims.claim(living, 5)
    assert claims.reap_dead_runners(judge=job.judge) == 1
    assert states(job) == {"waiting": 35, "claimed": 5}
    assert list(Runner.objects.all()) == [living]


@pytest.mark.usefixtures("empty_queues")
def test_a_job_that_lost_processes_gets_others_while_units_wait(job: Job, settings, monkeypatch):
    """A host that was cut off comes back to the job."""
    settings.RUNNERS_PER_JOB = 3
    told: list[int] = []
    monkeypatch.setattr(tasks.work_on_job, "apply_async", lambda args, kwargs: told.extend(args))

    def hints() -> int:
        told.clear()
        tasks.take_up_jobs()
        return told.count(job.pk)

    assert hints() == 3
    first = runner_of(job)
    assert hints() == 1
    claims.claim(first, 40)
    assert hints() == 0
    claims.leave(first)
    runner_of(job), runner_of(job), runner_of(job)
    assert hints() == 0


def test_who_gives_no_sign_of_life_is_taken_for_dead(job: Job):
    claims.claim(runner_of(job, alive_at=timezone.now() - timedelta(minutes=2)), 10)
    claims.claim(runner_of(job, "elsewhere 12 5.0"), 10)
    claims.claim(runner_of(job, "elsewhere 13 5.0", alive_at=timezone.now() - timedelta(minutes=2)), 10)
    assert claims.reap_dead_runners() == 2
    assert states(job) == {"waiting": 30, "claimed": 10}
