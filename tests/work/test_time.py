"""Active time: added up, each report once, never more than has passed."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.models import Topic
from assessor.work.actions import give_tasks, withdraw_task
from assessor.work.models import Task, TimeSpent
from tests.conftest import client_of
from tests.work.conftest import at_once

KEY = "00000000-0000-0000-0000-00000000000a"
Wait = Callable[[float], None]


@pytest.fixture
def wait(task: Task, time_machine) -> Wait:
    """Stop the clock when the task is given, and let time pass from there."""
    now = task.created_at
    time_machine.move_to(now, tick=False)

    def do(seconds: float) -> None:
        nonlocal now
        now += timedelta(seconds=seconds)
        time_machine.move_to(now, tick=False)

    return do


def report(client: Client, task: Task, seconds: object, key: object = None) -> HttpResponse:
    return client.post(reverse("time_spent", args=[task.pk]), {"key": str(key or uuid4()), "seconds": str(seconds)})


def spent(task: Task) -> tuple[int, list[int]]:
    """Return a task's seconds and those of each report."""
    reports = list(TimeSpent.objects.filter(task=task).order_by("pk").values_list("seconds", flat=True))
    return Task.objects.get(pk=task.pk).seconds, reports


def test_reports_add_up_and_are_answered_with_the_whole(task: Task, as_anna: Client, wait: Wait):
    answers = []
    for seconds in (30, 25, 5):
        wait(30)
        response = report(as_anna, task, seconds)
        assert response.status_code == 200
        answers.append(response.content.decode())
    assert answers == ["under a minute", "under a minute", "1 min"]
    assert spent(task) == (60, [30, 25, 5])


def test_a_report_sent_twice_counts_once(task: Task, as_anna: Client, wait: Wait):
    wait(30)
    first = report(as_anna, task, 30, KEY)
    wait(30)
    for seconds in (30, 20):
        again = report(as_anna, task, seconds, KEY)
        assert (again.status_code, again.content) == (200, first.content)
    assert spent(task) == (30, [30])
    report(as_anna, task, 30)
    assert spent(task) == (60, [30, 30])


@pytest.mark.parametrize(
    ("passed", "told", "counted"),
    [
        (10, 30, 11),  # a report that was rounded up on its way is not cut
        (29.4, 30, 30),
        (30, 30, 30),
        (300, 30, 30),
        (300, 120, 120),
        (300, 121, 120),
        (86_400, 86_400, 120),
        (0, 30, 1),
        (-60, 30, 1),  # the server's clock was set back
        (300, 10**30, 120),
    ],
)
def test_no_more_counts_than_has_passed_since_the_task_was_given(
    task: Task, as_anna: Client, wait: Wait, passed: float, told: int, counted: int
):
    wait(passed)
    assert report(as_anna, task, told).status_code == 200
    assert spent(task) == (counted, [counted])


def test_no_more_counts_than_has_passed_since_the_last_report(task: Task, as_anna: Client, wait: Wait):
    wait(300)
    report(as_anna, task, 100)
    wait(10)
    report(as_anna, task, 100)
    assert spent(task) == (111, [100, 11])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seconds": None}, "A report of time needs a key (UUID) and seconds."),
        ({"key": None}, "A report of time needs a key (UUID) and seconds."),
        ({"key": ""}, "A report of time needs a key (UUID) and seconds."),
        ({"key": "1"}, "A report of time needs a key (UUID) and seconds."),
        ({"seconds": ""}, "A report of time needs a key (UUID) and seconds."),
        ({"seconds": "1.5"}, "A report of time needs a key (UUID) and seconds."),
        ({"seconds": "nan"}, "A report of time needs a key (UUID) and seconds."),
        ({"seconds": "9" * 5000}, "A report of time needs a key (UUID) and seconds."),
        ({"seconds": "0"}, "seconds must be at least 1."),
        ({"seconds": "-30"}, "seconds must be at least 1."),
    ],
    ids=str,
)
def test_odd_reports_are_refused(task: Task, as_anna: Client, wait: Wait, wrong: dict[str, str | None], message: str):
    wait(60)
    address = reverse("time_spent", args=[task.pk])
    right = {"key": KEY, "seconds": "30"}
    data = {name: value for name, value in (right | wrong).items() if value is not None}
    response = as_anna.post(address, data)
    assert (response.status_code, response.content.decode()) == (400, message)
    assert spent(task) == (0, [])
    assert as_anna.post(address, right).status_code == 200
    assert spent(task) == (30, [30])


def test_time_is_ones_own(task: Task, as_anna: Client, ben: Person, olga: Person, wait: Wait):
    wait(60)
    for stranger in (ben, olga):
        assert report(client_of(stranger), task, 30).status_code == 404
    assert report(Client(), task, 30).status_code == 401
    assert as_anna.get(reverse("time_spent", args=[task.pk])).status_code == 405
    assert spent(task) == (0, [])
    assert report(as_anna, task, 30).status_code == 200
    withdraw_task(task=task, acting_user=olga)
    assert report(as_anna, task, 30).status_code == 404
    assert spent(task) == (30, [30])


def test_time_counts_for_the_task_it_was_spent_on(task: Task, as_anna: Client, anna: Person, olga: Person, wait: Wait):
    topic = Topic.objects.get(qid="t2")
    given = {"campaign": task.campaign, "condition": task.condition, "person": anna, "acting_user": olga}
    [other] = give_tasks(topics=[topic], **given)
    wait(60)
    report(as_anna, task, 30, KEY)
    report(as_anna, other, 20)
    assert (spent(task), spent(other)) == ((30, [30]), (20, [20]))
    assert report(as_anna, other, 20, KEY).content == b"under a minute"
    assert (spent(task), spent(other)) == ((30, [30]), (20, [20]))


@pytest.mark.django_db(transaction=True)
def test_reports_of_many_tabs_at_once_count_no_more_than_has_passed(task: Task, anna: Person):
    Task.objects.update(created_at=task.created_at - timedelta(seconds=60))
    calls = [partial(report, client_of(anna), task, 60) for _ in range(8)]
    assert [response.status_code for response in at_once(calls)] == [200] * 8
    seconds, reports = spent(task)
    assert sorted(reports, reverse=True)[0] == 60
    assert seconds == sum(reports) <= 60 + 7 * 2


def test_after_the_clock_was_set_back_time_is_counted_on(task: Task, as_anna: Client, wait: Wait):
    """One report can't be told from none that passed; the next ones are by the new clock."""
    wait(30)
    report(as_anna, task, 30)
    wait(-7_200)
    report(as_anna, task, 30)
    wait(30)
    report(as_anna, task, 30)
    assert spent(task) == (61, [30, 1, 30])
