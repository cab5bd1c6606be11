"""The assessor's home: a row a topic, each of its steps a link, and one Continue."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from assessor.collection.models import Campaign, Condition, Person, Topic
from assessor.work.actions import give_tasks
from assessor.work.models import Task
from nuggets.models import NuggetBank
from tests.assignment.conftest import answered, finished, give, manual, nugget_ids  # noqa: F401  # fixtures
from tests.assignment.conftest import task as assigning  # noqa: F401
from tests.support.judging_helpers import from_scratch
from tests.support.judging_helpers import give as give_support


@pytest.fixture
def judging(campaign: Campaign, topic: Topic, anna: Person, assigning: Task) -> Task:  # noqa: F811
    """Anna judges citations of the topic on which she wrote nuggets and assigns them."""
    return give_support(from_scratch(campaign), topic, anna)


def shown(client: Client) -> Any:
    return client.get("/").context


def test_a_topic_is_one_row_with_its_steps_in_order(judging: Task, assigning: Task, as_anna: Client):  # noqa: F811
    Task.objects.filter(kind="nuggets").update(seconds=3600)
    Task.objects.filter(pk=assigning.pk).update(seconds=1800, done=1)
    home = shown(as_anna)
    [own] = home["open_topics"]
    assert [(step.items, step.task.done, step.task.total) for step in own.steps] == [
        *(("nuggets", 3, 3), ("answers", 1, 3)),
        ("citations", 0, 3),
    ]
    assert own.conditions == ["ManualNuggets", "Manual/Manual", "from scratch"]
    assert own.time == "1 h 30 min"
    page = as_anna.get("/").content.decode()
    places = [
        page.index(f'<a href="/{part}/')
        for part in (f"nuggets/{own.steps[0].task.nugget_bank.pk}", "assign", "support")
    ]
    assert places == sorted(places)
    assert page.count('aria-label="Continue why do cats purr"') == 1
    assert page.count(">finished</span>") == 1  # of the nuggets


def test_continue_leads_to_where_one_was_else_to_the_first_open_step(judging: Task, assigning: Task, as_anna: Client):  # noqa: F811
    Task.objects.update(worked_at=None)
    [own] = shown(as_anna)["open_topics"]
    assert own.next.task == assigning
    Task.objects.filter(pk=judging.pk).update(worked_at=timezone.now())
    home = shown(as_anna)
    assert home["open_topics"][0].next.task == judging
    assert home["next_task"].task == judging


def test_a_topic_of_which_all_is_finished_stands_below(judging: Task, as_anna: Client):
    Task.objects.update(state="finished")
    home = shown(as_anna)
    assert home["open_topics"] == []
    [own] = home["finished_topics"]
    assert [step.items for step in own.steps] == ["nuggets", "answers", "citations"]
    page = as_anna.get("/").content.decode()
    assert "All done." in page
    assert "Continue" not in page


def test_other_topics_and_other_people_have_rows_of_their_own(
    answered: Campaign,  # noqa: F811
    bank: NuggetBank,
    condition: Condition,
    anna: Person,
    ben: Person,
    as_anna: Client,
):
    other = Topic.objects.get(campaign=answered, qid="t2")
    give_tasks(campaign=answered, topics=[other], condition=condition, person=anna, acting_user=None)
    give_support(from_scratch(answered), bank.topic, ben)
    assert [(own.topic.qid, len(own.steps)) for own in shown(as_anna)["open_topics"]] == [("t1", 1), ("t2", 1)]
