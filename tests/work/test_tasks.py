"""Giving topics to people and taking them back."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_named, kind_of
from assessor.campaigns.models import Campaign, Condition, Event, Topic
from assessor.work.actions import PlanError, Taken, give_tasks, withdraw_task
from assessor.work.models import Task
from assessor.work.queries import minutes, place, planned, tasks_of
from nuggets import actions
from nuggets.models import NuggetBank
from tests.conftest import ASSESSOR, client_of, make_person
from tests.work.conftest import at_once

Give = Callable[..., list[Task]]


@pytest.fixture
def topics(campaign: Campaign) -> list[Topic]:
    return list(Topic.objects.filter(campaign=campaign).order_by("qid"))


@pytest.fixture
def give(condition: Condition, topics: list[Topic], anna: Person, olga: Person) -> Give:
    """Give topics under ManualNuggets: all of them to Anna, where nothing else is said."""

    def do(**changed: Any) -> list[Task]:
        usual = {"campaign": condition.campaign, "topics": topics, "condition": condition, "person": anna}
        return give_tasks(**usual | {"acting_user": olga} | changed)

    return do


@pytest.fixture
def refused(give: Give) -> Callable[..., None]:
    """Show that giving is refused with this message and changes nothing."""

    def show(message: str, **changed: Any) -> None:
        before = list(Task.objects.order_by("pk").values()), NuggetBank.objects.count(), Event.objects.count()
        with pytest.raises(PlanError) as error:
            give(**changed)
        assert str(error.value) == message
        after = list(Task.objects.order_by("pk").values()), NuggetBank.objects.count(), Event.objects.count()
        assert after == before

    return show


def told(verb: str) -> list[tuple[str, str, dict[str, str]]]:
    """Return the events of a verb, in order: person, subject, details."""
    events = Event.objects.filter(verb=verb).order_by("pk")
    return [(event.person.username, event.subject, event.details) for event in events]


def test_each_topic_becomes_a_task_with_an_empty_bank(give: Give, campaign: Campaign, anna: Person, olga: Person):
    tasks = give()
    assert [(task.topic.qid, task.person, task.kind, task.state) for task in tasks] == [
        ("t1", anna, "nuggets", "open"),
        ("t2", anna, "nuggets", "open"),
    ]
    assert {(task.campaign, task.created_by, task.done, task.total, task.seconds) for task in tasks} == {
        (campaign, olga, 0, 0, 0)
    }
    for task in tasks:
        bank = NuggetBank.objects.get(task=task)
        assert (bank.topic, bank.condition, bank.maker.person) == (task.topic, task.condition, anna)
        assert (bank.state, bank.version, bank.edition, bank.order) == ("open", 0, 0, [])
        assert kind_of(task).url(task) == f"/nuggets/{bank.pk}/"
    details = {"condition": "ManualNuggets"}
    assert told("task given") == [("olga", f"nuggets of {qid} by anna", details) for qid in ("t1", "t2")]


def test_what_a_person_has_already_stays_as_it_is(give: Give, topics: list[Topic]):
    [first] = give(topics=topics[:1])
    Task.objects.filter(pk=first.pk).update(done=3, seconds=60, state=Task.State.FINISHED)
    before = Task.objects.filter(pk=first.pk).values().get()
    again, second = give()
    assert (again.pk, second.topic) == (first.pk, topics[1])
    assert Task.objects.filter(pk=first.pk).values().get() == before
    assert len(told("task given")) == Task.objects.count() == NuggetBank.objects.count() == 2
    assert [task.pk for task in give(topics=[topics[0], topics[0]])] == [first.pk, first.pk]
    assert len(told("task given")) == 2


def test_a_screen_tells_which_of_ones_own_topics_it_is(give: Give, topics: list[Topic], anna: Person, ben: Person):
    """In the home's order; what others have and what was withdrawn do not count."""
    [one, _] = topics
    loaded = {"campaign": one.campaign, "import_record": one.import_record}
    give(topics=[Topic.objects.create(qid="t0", title="why do dogs bark", **loaded)], person=ben)
    tasks = give(topics=topics[::-1])
    places = [(1, 2), (2, 2)]
    assert [place(task) for task in sorted(tasks, key=lambda task: task.topic.qid)] == places
    for task, number in zip(tasks, (2, 1), strict=True):
        page = client_of(task.person).get(kind_of(task).url(task)).content.decode()
        assert f'<a href="/">Home</a> · Topic {number} of 2</span>' in page
    second = next(task for task in tasks if task.topic == topics[1])
    withdraw_task(task=second, acting_user=second.created_by)
    assert place(next(task for task in tasks if task != second)) == (1, 1)


def test_at_least_one_topic(refused):
    refused("Choose at least one topic.", topics=[])


@pytest.mark.parametrize("who", ["olga", "otto", "admin"])
def test_only_assessors_are_given_tasks(give: Give, refused, who: str, request):
    person: Person = request.getfixturevalue(who)
    refused(f"{who} is not an assessor of Study.", person=person)
    outsider = make_person("outsider")
    refused("outsider is not an assessor of Study.", person=outsider)
    left = make_person("left", ASSESSOR)
    left.is_active = False
    left.save()
    refused("left is not an assessor of Study.", person=left)
    assert len(give()) == 2


def test_a_kind_that_nobody_does_on_a_screen_is_refused(give: Give, refused, condition: Condition, monkeypatch):
    monkeypatch.setattr(type(kind_named("support")), "has_screen", False)  # an app that has no screen yet
    condition.kind = "support"
    condition.name = "support automatic"
    refused("Nobody can be given support automatic: it is not done by people on a screen.", condition=condition)
    condition.kind = "nuggets"
    assert len(give(condition=condition)) == 2


def test_a_topic_has_one_person_under_a_condition(give: Give, refused, topics: list[Topic], ben: Person, unblind):
    give(topics=topics[1:])
    message = "Under ManualNuggets these topics are somebody else's already: t2 (anna)."
    refused(message, person=ben)
    assert [task.topic.qid for task in give(topics=topics[:1], person=ben)] == ["t1"]
    message = "Under ManualNuggets these topics are somebody else's already: t1 (ben)."
    refused(message)
    assert len(give(person=ben, condition=unblind)) == 2, "under another condition they are free"


def test_finished_topics_are_not_given_to_a_second_person(give: Give, refused, topics: list[Topic], ben: Person):
    give(topics=topics[:1])
    Task.objects.update(state=Task.State.FINISHED)
    refused("Under ManualNuggets these topics are somebody else's already: t1 (anna).", person=ben)


def test_a_withdrawn_task_is_gone_and_comes_back_with_its_work(
    give: Give, topics: list[Topic], anna: Person, ben: Person, olga: Person, campaign: Campaign
):
    [task] = give(topics=topics[:1])
    bank = NuggetBank.objects.get(task=task)
    actions.add_nugget(bank, uid=uuid4(), text="a", evidence=None, acting_user=anna, seen=0)
    withdraw_task(task=task, acting_user=olga)
    assert told("task withdrawn") == [("olga", "nuggets of t1 by anna", {})]
    assert (list(tasks_of(anna)), list(planned(campaign))) == ([], [])
    assert Task.objects.get().state == Task.State.WITHDRAWN

    [back] = give(topics=topics[:1])
    assert (back.pk, back.state, back.done) == (task.pk, "open", 1)
    bank.refresh_from_db()
    assert (NuggetBank.objects.count(), bank.version, len(bank.order)) == (1, 1, 1)
    assert (list(tasks_of(anna)), list(planned(campaign))) == ([task], [task])
    assert len(told("task given")) == 2

    withdraw_task(task=task, acting_user=olga)
    [bens] = give(topics=topics[:1], person=ben)
    assert NuggetBank.objects.get(task=bens).order == []
    with pytest.raises(PlanError, match="t1 \\(ben\\)"):
        give(topics=topics[:1])


@pytest.mark.parametrize("state", [Task.State.FINISHED, Task.State.WITHDRAWN])
def test_only_open_tasks_are_withdrawn(give: Give, topics: list[Topic], olga: Person, state: str):
    [task] = give(topics=topics[:1])
    Task.objects.update(state=state)
    with pytest.raises(PlanError) as error:
        withdraw_task(task=task, acting_user=olga)
    assert str(error.value) == "nuggets of t1 by anna is not open any more."
    assert (Task.objects.get().state, told("task withdrawn")) == (state, [])
    Task.objects.update(state=Task.State.OPEN)
    withdraw_task(task=task, acting_user=olga)
    assert len(told("task withdrawn")) == 1


@pytest.mark.django_db(transaction=True)
def test_a_topic_that_is_given_to_many_at_once_goes_to_one(give: Give, topics: list[Topic]):
    people = [make_person(f"assessor{number}", ASSESSOR) for number in range(8)]
    results = at_once([partial(give, person=person) for person in people])
    [winner] = [number for number, result in enumerate(results) if isinstance(result, list)]
    assert [type(result) for result in results if not isinstance(result, list)] == [Taken] * 7
    tasks = Task.objects.order_by("topic__qid").values_list("topic__qid", "person__username", "state")
    assert list(tasks) == [(qid, f"assessor{winner}", "open") for qid in ("t1", "t2")]
    assert NuggetBank.objects.count() == 2


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "—"),
        (1, "under a minute"),
        (59, "under a minute"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h 00 min"),
        (7500, "2 h 05 min"),
        (360_000, "100 h 00 min"),
    ],
)
def test_minutes(seconds: int, said: str):
    assert minutes(seconds) == said
