"""The limits of a judge over all workers."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from assessor.campaigns.models import Campaign
from assessor.llm import claims, limits
from assessor.llm.models import Job, ModelJudge, Runner
from assessor.runtime import processes
from tests.llm.grading import make_job, make_judge


@pytest.fixture
def job(campaign: Campaign) -> Job:
    return make_job(make_judge(campaign, concurrency=8))


def new_runner(job: Job) -> Runner:
    return Runner.objects.create(job=job, judge=job.judge, owner=processes.me(), alive_at=timezone.now())


def seats_of(runner: Runner, in_flight: int = 0) -> int:
    shared = limits.share(runner, in_flight)
    assert shared is not None
    return shared.seats


def held(job: Job) -> int:
    return sum(job.judge.runners.values_list("seats", flat=True))


def test_a_lone_runner_has_all_seats(job: Job):
    assert seats_of(new_runner(job)) == 8


def test_a_second_one_gets_its_share_only_when_it_is_free(job: Job):
    first, second = new_runner(job), new_runner(job)
    Runner.objects.filter(pk=second.pk).delete()
    assert seats_of(first) == 8
    second = new_runner(job)
    assert (seats_of(second), held(job)) == (0, 8)  # the first one still has all of them
    assert (seats_of(first, in_flight=7), held(job)) == (4, 7)  # it takes nobody in, but can't call back what is out
    assert (seats_of(second), held(job)) == (1, 8)
    assert (seats_of(first, in_flight=4), held(job)) == (4, 5)
    assert (seats_of(second, in_flight=1), held(job)) == (4, 8)


def test_an_odd_number_is_shared_without_rest(job: Job):
    ModelJudge.objects.update(concurrency=5)
    runners = [new_runner(job) for _ in range(3)]
    assert [seats_of(runner) for runner in runners] == [2, 2, 1]
    assert held(job) == 5


def test_who_left_leaves_its_seats(job: Job):
    first, second = new_runner(job), new_runner(job)
    seats_of(first), seats_of(second)
    claims.leave(first)
    assert seats_of(second) == 8


def test_who_was_taken_for_dead_has_none(job: Job):
    runner = new_runner(job)
    claims.leave(runner)
    assert limits.share(runner, 3) is None


@pytest.mark.django_db(transaction=True)
def test_however_they_race_the_sum_of_seats_stays_within_the_limit(job: Job):
    runners = [new_runner(job) for _ in range(6)]
    sums: list[int] = []

    def beat(runner: Runner) -> None:
        try:
            for _ in range(10):
                seats_of(runner, in_flight=0)
                sums.append(held(job))
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(beat, runners))
    assert max(sums) <= 8
    assert held(job) == 8


def reserve(judge: ModelJudge, *tokens: int) -> list[float]:
    with transaction.atomic():
        return limits.reserve(judge.pk, tokens)


def test_requests_leave_at_even_distances(campaign: Campaign):
    judge = make_judge(campaign, requests_per_minute=600)
    waits = reserve(judge, 1, 1, 1)
    assert waits == pytest.approx([0, 0.102, 0.204], abs=0.001)
    more = reserve(judge, 1)  # another worker
    assert more == pytest.approx([0.306], abs=0.05)


def test_a_minute_never_holds_more_than_the_limit(campaign: Campaign):
    judge = make_judge(campaign, requests_per_minute=7)
    waits = reserve(judge, *([1] * 50))
    for first in waits:
        assert sum(first <= wait < first + 60 for wait in waits) <= 7


def test_who_has_leave_needs_not_wait_for_all_that_were_given_it_since(job: Job):
    """Else all left together, with the last one."""
    ModelJudge.objects.update(requests_per_minute=60)
    reserve(job.judge, *([1] * 30))
    shared = limits.share(new_runner(job), 0)
    assert shared is not None
    assert shared.wait == 0


def test_tokens_are_limited_too(campaign: Campaign):
    judge = make_judge(campaign, tokens_per_minute=6_000)
    assert reserve(judge, 1_000, 500, 10) == pytest.approx([0, 10.2, 15.3], abs=0.001)
    with transaction.atomic():
        limits.correct(judge.pk, -510)  # the requests were shorter than expected, and the third is told later
    [wait] = reserve(judge, 1)
    assert 9 < wait <= 15.3 + 0.102 - 5.202, "less what has passed since"


def test_an_endpoint_that_asks_to_wait_is_left_alone_by_all(job: Job):
    limits.hold_off(job.judge_id, 5)
    shared = limits.share(new_runner(job), 0)
    assert shared is not None
    assert shared.wait == pytest.approx(5, abs=0.2)
    assert reserve(job.judge, 1) == pytest.approx([5], abs=0.2)
    limits.hold_off(job.judge_id, 1)  # a shorter wish does not shorten it
    assert reserve(job.judge, 1)[0] > 4.5


@pytest.mark.skipif(connection.vendor == "postgresql", reason="there it is the server's clock")
def test_nobody_waits_until_a_clock_that_was_set_back_has_caught_up(job: Job, time_machine):
    """Two hours back: what was to wait for a second, and for half a minute, waits as long as that."""
    ModelJudge.objects.update(requests_per_minute=60)
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    with transaction.atomic():
        assert limits.reserve(job.judge.pk, [1, 1]) == pytest.approx([0, 1.02])
    time_machine.move_to(now - timedelta(hours=2), tick=False)
    with transaction.atomic():
        assert limits.reserve(job.judge.pk, [1]) == pytest.approx([2.04])
    limits.hold_off(job.judge.pk, 30)
    time_machine.move_to(now - timedelta(hours=4), tick=False)
    shared = limits.share(new_runner(job), 0)
    assert shared is not None
    assert shared.wait == pytest.approx(30)
