"""The assessor's home: a row a topic, each of its steps a link, and one Continue."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.actions import name_for_assessors
from assessor.campaigns.models import Campaign, Condition, Event, Topic
from assessor.labels.manual_setups import label_again
from assessor.work.actions import give_tasks
from assessor.work.blindness import record_exposure
from assessor.work.models import Task
from nuggets.models import NuggetBank
from tests.assignment.conftest import answered, finished, manual, nugget_ids  # noqa: F401  # fixtures
from tests.assignment.conftest import task as assigning  # noqa: F401
from tests.conftest import client_of
from tests.judging import give
from tests.support.judging_helpers import from_scratch, load_runs, post_edited


@pytest.fixture
def judging(campaign: Campaign, topic: Topic, anna: Person, assigning: Task) -> Task:  # noqa: F811
    """Anna judges citations of the topic on which she wrote nuggets and assigns them."""
    return give(from_scratch(campaign), topic, anna)


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
    names = [step.task.condition.name_for_assessors for step in own.steps]
    assert names == ["Nuggets", "Nugget assignment", "Support"]
    assert own.time == "1 h 30 min"
    page = as_anna.get("/").content.decode()
    places = [
        page.index(f'<a href="/{part}/')
        for part in (f"nuggets/{own.steps[0].task.nugget_bank.pk}", "assign", "support")
    ]
    assert places == sorted(places)
    assert page.count('aria-label="Continue why do cats purr"') == 1
    assert page.count(">finished</span>") == 1  # of the nuggets
    assert '<meter max="3" value="1" aria-label="answers done of why do cats purr, step 2"></meter>' in page
    assert page.count("Say of each nugget how far an answer contains it.") == 1
    assert "List the facts" not in page, "which is done"
    assert not any(name in page for name in ("ManualNuggets", "Manual/Manual", "from scratch"))


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


def test_a_repetition_does_not_stand_beside_the_first_work(
    assigning: Task,  # noqa: F811
    manual: Condition,  # noqa: F811
    topic: Topic,
    anna: Person,
    as_anna: Client,
):
    name_for_assessors(condition=manual, name=" Facts  in answers", acting_user=None)
    Task.objects.filter(pk=assigning.pk).update(state="finished", done=3, seconds=3600)
    again = label_again(of=manual, name="Manual/Manual, repeated", purpose="repeat", acting_user=None)
    repeated = give(again, topic, anna)
    [own] = shown(as_anna)["open_topics"]
    assert [step.task for step in own.steps if step.task.kind == "assignment"] == [repeated]
    assert [step.task.kind for step in own.steps] == ["nuggets", "assignment"], "other kinds stay"
    assert shown(as_anna)["finished_topics"] == []
    for page in (as_anna.get("/").content.decode(), as_anna.get(f"/assign/{repeated.pk}/").content.decode()):
        assert "Facts in answers" in page
        assert not any(secret in page for secret in ("Manual/Manual", "repeated", f'/assign/{assigning.pk}/"', "1 h"))
    Task.objects.filter(pk=repeated.pk).update(state="finished")
    assert shown(as_anna)["open_topics"] == []


def test_an_organizer_names_a_condition_for_assessors(campaign: Campaign, olga: Person):
    client = client_of(olga)
    asked = {"method": "support from scratch", "name": "Secret", "assessor_name": "Citations"}
    assert client.post("/campaigns/study/conditions/new/", asked).status_code == 302
    condition = Condition.objects.get(name="Secret")
    assert (condition.assessor_name, condition.name_for_assessors) == ("Citations", "Citations")
    event = Event.objects.get(verb="condition named for assessors")
    assert (event.person, event.details) == (olga, {"name": "Citations"})
    asked = {"method": "support from scratch", "name": "Other", "assessor_name": "x" * 61}
    assert client.post("/campaigns/study/conditions/new/", asked).status_code == 200
    assert not Condition.objects.filter(name="Other").exists()


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
    give(from_scratch(answered), bank.topic, ben)
    assert [(own.topic.qid, len(own.steps)) for own in shown(as_anna)["open_topics"]] == [("t1", 1), ("t2", 1)]


def test_blind_work_that_can_not_be_done_any_more_is_no_next_step(judging: Task, assigning: Task, as_anna: Client):  # noqa: F811
    Task.objects.exclude(pk=judging.pk).update(worked_at=None)
    Task.objects.filter(pk=judging.pk).update(worked_at=timezone.now())
    assert shown(as_anna)["next_task"].task == judging
    record_exposure(judging.person, [judging.topic], judging.kind, "topic")
    home = as_anna.get("/")
    assert home.context["next_task"].task == assigning
    page = home.content.decode()
    assert f'href="/support/{judging.pk}/"' not in page
    assert "not for you any more" in page
    assert "You have seen what a language model gave on this topic" in page


def test_work_says_that_it_starts_from_a_models(campaign: Campaign, topic: Topic, import_file, anna: Person):
    load_runs(campaign, import_file)
    blind, other = from_scratch(campaign), post_edited(campaign)
    assert blind.task_for_assessors == "Say of each citation how far its passage supports the sentence."
    assert other.task_for_assessors == f"{blind.task_for_assessors} You start from what a model gave."
    give(other, topic, anna)
    assert "You start from what a model gave." in client_of(anna).get("/").content.decode()
