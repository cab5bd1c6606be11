"""Topics that are drawn: one to each, as a lease that any sign of work begins anew and that somebody else may end."""

import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, change_protocol
from assessor.campaigns.condition_kind import Lacking, kind_named
from assessor.campaigns.models import Answer, Campaign, Condition, Event, Role, Topic
from assessor.desk.queries import home
from assessor.relevance.models import RelevanceJudgment
from assessor.work.actions import PlanError, draw_next, note_opened, put_in_queue, take_out_of_queue, withdraw_task
from assessor.work.actions import queue as drawing
from assessor.work.blindness import record_exposure
from assessor.work.leases import free
from assessor.work.models import Task, Waiting
from assessor.work.queries import lease, queues_of
from assessor.work.write_protocol import Closed
from assignment.actions import create_manual_assign
from nuggets.actions import add_nugget, finish_bank, set_importance
from nuggets.models import NuggetBank
from tests.conftest import ASSESSOR, client_of, make_assessor, make_person
from tests.judging import all_judged, counters, everything, give, given, judgeable, send, sign_off, stands
from tests.relevance.conftest import RANKINGS, give_relevance, judge_item
from tests.support.judging_helpers import from_scratch, load_runs, post_edited, sheet_of
from tests.work.conftest import at_once

NOTHING_FREE = "No topic is free here now: others have them, or all are done."
NOT_YOURS = (
    "None of the topics that are free here can be yours: you have seen too much of them, cannot read one of "
    "their languages, or they wait for somebody else or for work that is not done yet. Your organizer can tell "
    "you more."
)
LEASE = timedelta(hours=24)
Pass = Callable[..., None]


@pytest.fixture
def answered(campaign: Campaign, import_file) -> Campaign:
    load_runs(campaign, import_file)
    return campaign


@pytest.fixture
def pooled(campaign: Campaign, import_file) -> Campaign:
    """The campaign with a pool of passages to grade."""
    for content in RANKINGS.values():
        assert import_file(campaign, "retrieval", content).state == "done"
    return campaign


@pytest.fixture
def topics(campaign: Campaign) -> list[Topic]:
    return list(Topic.objects.filter(campaign=campaign).order_by("qid"))


@pytest.fixture
def scratch(answered: Campaign) -> Condition:
    return from_scratch(answered)


@pytest.fixture
def queue(scratch: Condition, topics: list[Topic], olga: Person) -> Condition:
    """Support from scratch, both topics of which wait; t1 has three citations to judge, t2 one."""
    put_in_queue(topics=topics, condition=scratch, acting_user=olga)
    return scratch


@pytest.fixture
def later(time_machine) -> Pass:
    """Stop the clock, and let time pass from there."""
    now = timezone.now()
    time_machine.move_to(now, tick=False)

    def do(**passed: float) -> None:
        nonlocal now
        now += timedelta(**passed)
        time_machine.move_to(now, tick=False)

    return do


def waits(condition: Condition) -> list[str]:
    """Return the topics that can be drawn, in the order in which they will be."""
    return [waiting.topic.qid for waiting in free().filter(condition=condition)]


def told(*verbs: str) -> list[tuple[str, str, str, dict[str, str]]]:
    """Return the events of some verbs, in order: verb, person, subject, details."""
    events = Event.objects.filter(verb__in=verbs).order_by("pk")
    return [(one.verb, one.person.username if one.person else "", one.subject, one.details) for one in events]


def refused(condition: Condition, person: Person) -> str:
    """Return why there is nothing to draw; nothing is changed by that."""
    before = everything()
    with pytest.raises(PlanError) as error:
        draw_next(condition=condition, person=person)
    assert everything() == before
    return str(error.value)


def finish(task: Task) -> None:
    """Say all there is to say of a topic, and sign it off."""
    client = client_of(task.person)
    for sheet in all_judged(task):
        for key in set(judgeable(sheet)) - set(given(sheet)):
            assert send(client, sheet, "label", key, label="full").status_code == 200
    assert sign_off(client, task).status_code == 200


# Putting in and taking out


def test_topics_wait_once_in_the_order_they_were_put_in(scratch: Condition, topics: list[Topic], olga: Person):
    first, second = topics
    [waiting] = put_in_queue(topics=[second], condition=scratch, acting_user=olga)
    again = put_in_queue(topics=[first, second, second], condition=scratch, acting_user=olga)
    assert [one.topic for one in again] == [first, second]
    assert again[1] == waiting
    assert waits(scratch) == ["t2", "t1"]
    assert {(one.created_by, one.reason) for one in Waiting.objects.all()} == {(olga, "")}
    assert told("topic put in queue") == [
        ("topic put in queue", "olga", "t2 under from scratch", {}),
        ("topic put in queue", "olga", "t1 under from scratch", {}),
    ]


def test_what_cannot_wait(scratch: Condition, pooled, condition, topics, topic, anna, olga, monkeypatch):
    def refuses(message: str, **changed: Any) -> None:
        usual = {"topics": topics, "condition": scratch, "acting_user": olga}
        with pytest.raises(PlanError) as error:
            put_in_queue(**usual | changed)
        assert str(error.value) == message
        assert (Waiting.objects.count(), told("topic put in queue")) == (0, [])

    refuses("Choose at least one topic.", topics=[])
    refuses("A reason has at most 500 characters.", reason="x" * 501)
    manual = create_manual_assign(nuggets=condition, name="manual", acting_user=None)
    refuses("The nuggets of t1, t2 under ManualNuggets are not finished.", condition=manual)
    drawn = give_relevance(pooled, anna, from_queue=True).condition
    refuses(f"Under {drawn} people draw passages of topics that they have: give them the topics.", condition=drawn)
    give(scratch, topic, anna)
    refuses("Under from scratch these topics are somebody else's already: t1 (anna).")
    monkeypatch.setattr(type(kind_named("support")), "has_screen", False)
    refuses("Nobody can be given from scratch: it is not done by people on a screen.")


def test_taking_out(queue: Condition, topics: list[Topic], anna: Person, olga: Person):
    first, second = Waiting.objects.all()
    task = draw_next(condition=queue, person=anna)
    with pytest.raises(PlanError, match="somebody else's already: t1 \\(anna\\)"):
        take_out_of_queue(waiting=first, acting_user=olga)
    take_out_of_queue(waiting=second, acting_user=olga)
    assert told("topic taken out of queue") == [("topic taken out of queue", "olga", "t2 under from scratch", {})]
    withdraw_task(task=task, acting_user=olga)
    assert waits(queue) == ["t1"]
    take_out_of_queue(waiting=first, acting_user=olga)
    assert not Waiting.objects.exists()


# Drawing


def test_each_draws_the_next_topic_and_keeps_it_until_it_is_done(queue: Condition, anna: Person, ben: Person, later):
    annas = draw_next(condition=queue, person=anna)
    assert (annas.topic.qid, annas.person, annas.created_by, annas.state) == ("t1", anna, anna, "open")
    assert annas.leased_until == timezone.now() + LEASE
    assert counters(annas) == ("open", 0, 3)
    assert waits(queue) == ["t2"]
    assert draw_next(condition=queue, person=anna) == annas, "twice is as good as once"
    bens = draw_next(condition=queue, person=ben)
    assert (bens.topic.qid, waits(queue)) == ("t2", [])
    assert told("task drawn") == [
        ("task drawn", "anna", "support of t1 by anna", {"condition": "from scratch"}),
        ("task drawn", "ben", "support of t2 by ben", {"condition": "from scratch"}),
    ]
    finish(bens)
    assert refused(queue, ben) == NOTHING_FREE
    assert draw_next(condition=queue, person=anna) == annas
    finish(annas)
    assert refused(queue, anna) == NOTHING_FREE
    assert {task.leased_until for task in Task.objects.all()} == {None}


def test_every_condition_has_its_own_queue(queue: Condition, answered: Campaign, topics, anna, olga):
    edited = post_edited(answered)
    put_in_queue(topics=topics, condition=edited, acting_user=olga)
    first, second = draw_next(condition=queue, person=anna), draw_next(condition=edited, person=anna)
    assert (first.topic, second.topic) == (topics[0], topics[0])
    assert (waits(queue), waits(edited)) == (["t2"], ["t2"])


def test_the_checks_are_those_of_giving(queue: Condition, campaign: Campaign, topic: Topic, anna, ben, olga, admin):
    assert refused(queue, olga) == "olga is not an assessor of Study."
    Person.objects.filter(pk=anna.pk).update(is_active=False)
    assert refused(queue, anna) == "anna is not an assessor of Study."
    Person.objects.filter(pk=anna.pk).update(is_active=True)
    make_assessor(olga)
    organizer = Person.objects.get(pk=olga.pk)
    assert refused(queue, organizer).startswith("olga organizes Study, or did")
    make_assessor(admin)
    assert refused(queue, Person.objects.get(pk=admin.pk)).startswith("admin is an administrator")
    # Who has seen what a model gave on t1 gets t2.
    record_exposure(anna, [topic], "support", "test")
    assert draw_next(condition=queue, person=anna).topic.qid == "t2"
    record_exposure(ben, campaign.topics.all(), "support", "test")
    assert refused(queue, ben) == NOT_YOURS
    assert draw_next(condition=queue, person=make_person("carla", ASSESSOR)).topic == topic


def test_who_grades_from_scratch_draws_no_nuggets_there(condition: Condition, pooled, topics, anna, ben):
    put_in_queue(topics=topics, condition=condition, acting_user=None)
    give_relevance(pooled, anna)
    mine = Task.objects.get(kind="relevance").topic
    drawn = draw_next(condition=condition, person=anna)
    assert drawn.topic != mine
    assert draw_next(condition=condition, person=ben).topic == mine


def test_a_topic_that_nothing_is_to_be_done_on_is_passed_over(queue: Condition, topics, anna, answered: Campaign):
    Answer.objects.filter(topic=topics[0]).update(apart=True)
    assert draw_next(condition=queue, person=anna).topic.qid == "t2"
    assert not Task.objects.filter(topic=topics[0]).exists()


def test_a_topic_that_rests_keeps_nobody_from_drawing_another_one(queue: Condition, topics, anna: Person, olga: Person):
    first = draw_next(condition=queue, person=anna)
    Task.objects.filter(pk=first.pk).update(paused=True)
    assert list(home(anna)["queues"]) == [queue]
    assert draw_next(condition=queue, person=anna).topic != first.topic


def test_a_topic_that_a_kind_refuses_by_now_is_passed_over(queue: Condition, topics, anna: Person, monkeypatch):
    lacking = Lacking({topics[0].pk}, "not yet: {}".format)
    monkeypatch.setattr(kind_named("support"), "lacking", lambda condition, topics: lacking)
    assert draw_next(condition=queue, person=anna).topic.qid == "t2"


def test_nuggets_are_drawn_and_assigned_by_who_made_them(condition: Condition, topics, anna, ben, olga):
    put_in_queue(topics=topics[:1], condition=condition, acting_user=olga)
    task = draw_next(condition=condition, person=anna)
    bank = NuggetBank.objects.get(task=task)
    assert (task.kind, bank.maker.person) == ("nuggets", anna)
    uid = uuid4()
    add_nugget(bank, uid=uid, text="a", evidence=None, acting_user=anna, seen=0)
    set_importance(bank, uid=uid, importance="vital", acting_user=anna, seen=1)
    assert finish_bank(bank, acting_user=anna, seen=2)["finished"]
    assert (Task.objects.get().state, Task.objects.get().leased_until) == ("finished", None)


def test_a_kind_says_who_may_have_a_topic(condition: Condition, topics, anna, ben, olga, import_file, campaign):
    load_runs(campaign, import_file)
    put_in_queue(topics=topics[:1], condition=condition, acting_user=olga)
    bank = NuggetBank.objects.get(task=draw_next(condition=condition, person=anna))
    uid = uuid4()
    add_nugget(bank, uid=uid, text="a", evidence=None, acting_user=anna, seen=0)
    set_importance(bank, uid=uid, importance="vital", acting_user=anna, seen=1)
    finish_bank(bank, acting_user=anna, seen=2)
    manual = create_manual_assign(nuggets=condition, name="manual", acting_user=None)
    [waiting] = put_in_queue(topics=topics[:1], condition=manual, acting_user=olga)
    assert refused(manual, ben) == NOT_YOURS
    assert draw_next(condition=manual, person=anna).topic == topics[0]
    withdraw_task(task=Task.objects.get(condition=manual), acting_user=olga)
    take_out_of_queue(waiting=waiting, acting_user=olga)
    put_in_queue(topics=topics[:1], condition=manual, acting_user=olga, reason=" anna  is away ")
    bens = draw_next(condition=manual, person=ben)
    assert (bens.topic, bens.reason) == (topics[0], "anna is away")
    assert told("task drawn")[-1][3] == {"condition": "manual", "reason": "anna is away"}


def test_drafts_are_drawn_once_they_are_there(unblind: Condition, topics, anna: Person):
    put_in_queue(topics=topics, condition=unblind, acting_user=None)
    task = draw_next(condition=unblind, person=anna)
    assert len(NuggetBank.objects.get(task=task).order) == 2
    assert Task.objects.get().leased_until, "what a model drafted is no work of the person's, and the lease stands"


# What is given


def test_a_given_topic_has_no_lease_and_is_not_drawn(queue: Condition, topics, anna, ben, olga, later):
    drawn = draw_next(condition=queue, person=anna)
    with pytest.raises(PlanError, match="t1 \\(anna\\)"):
        give(queue, topics[0], ben)
    assert Task.objects.get().leased_until
    # Given to who has it already it is theirs for good.
    assert give(queue, topics[0], anna) == drawn
    assert Task.objects.get().leased_until is None
    later(days=400)
    assert draw_next(condition=queue, person=ben).topic.qid == "t2"
    withdraw_task(task=drawn, acting_user=olga)
    assert waits(queue) == ["t1"]


# The lease


def test_a_lease_that_ran_out_is_taken_over_by_who_draws_next(queue: Condition, topic, topics, anna, ben, later):
    annas = draw_next(condition=queue, person=anna)
    done, begun = sheet_of(annas, "team.two"), sheet_of(annas, "team.one")
    assert send(client_of(anna), done, "label", "0.0", label="full").status_code == 200
    assert send(client_of(anna), begun, "label", "0.0", label="none").status_code == 200
    # Of what nobody has begun there is more: that comes first.
    later(hours=24)
    assert waits(queue) == ["t2", "t1"]
    bens = draw_next(condition=queue, person=ben)
    assert bens.topic.qid == "t2"
    finish(bens)
    assert Task.objects.get(pk=annas.pk).state == "open", "nobody has drawn it yet"

    bens = draw_next(condition=queue, person=ben)
    assert bens.topic == topic
    annas.refresh_from_db()
    assert (annas.state, bens.state, bens.leased_until) == ("withdrawn", "open", timezone.now() + LEASE)
    assert told("lease ran out") == [
        ("lease ran out", "", "support of t1 by anna", {"condition": "from scratch", "drawn by": "ben"})
    ]
    done.refresh_from_db()
    begun.refresh_from_db()
    assert (done.task, done.judge.person, done.labels) == (annas, anna, {"0.0": "full"})
    assert (begun.task, begun.judge.person, begun.labels) == (bens, ben, {})
    assert [(one.verb, one.changes_by_item, one.task_id) for one in begun.revisions.all()] == [
        ("label", {"0.0": {"label": [None, "none"]}}, annas.pk),
        ("handed over", {"0.0": {"label": ["none", None]}}, bens.pk),
    ]
    assert counters(bens) == ("open", 1, 3)
    finish(bens)
    assert waits(queue) == []


def test_a_lease_holds_to_the_last_moment(queue: Condition, topics, anna, ben, olga, later):
    take_out_of_queue(waiting=Waiting.objects.get(topic=topics[1]), acting_user=olga)
    draw_next(condition=queue, person=anna)
    later(hours=23, minutes=59, seconds=59)
    assert refused(queue, ben) == NOTHING_FREE
    later(seconds=1)
    assert draw_next(condition=queue, person=ben).topic == topics[0]


def test_how_long_a_lease_is_can_be_set(queue: Condition, anna: Person, ben: Person, later, settings):
    settings.TOPIC_LEASE = timedelta(minutes=30)
    task = draw_next(condition=queue, person=anna)
    assert task.leased_until == timezone.now() + timedelta(minutes=30)
    later(minutes=30)
    assert waits(queue) == ["t2", "t1"]


def save(task: Task) -> None:
    sheet = sheet_of(task, "team.one")
    assert send(client_of(task.person), sheet, "flag", "0.0", note="odd").status_code == 200


def tell_time(task: Task) -> None:
    told = {"key": str(uuid4()), "seconds": "30"}
    assert client_of(task.person).post(reverse("time_spent", args=[task.pk]), told).status_code == 200


def open_page(task: Task) -> None:
    assert client_of(task.person).get(reverse("support", args=[task.pk])).status_code == 200


def go_on(task: Task) -> None:
    assert draw_next(condition=task.condition, person=task.person) == task


@pytest.mark.parametrize("sign", [save, tell_time, open_page, go_on])
@pytest.mark.parametrize("hours", [23, 240])
def test_any_sign_of_work_begins_the_lease_anew(
    queue: Condition, topics, anna, ben, olga, later, sign: Callable[[Task], None], hours: int
):
    take_out_of_queue(waiting=Waiting.objects.get(topic=topics[1]), acting_user=olga)
    task = draw_next(condition=queue, person=anna)
    later(hours=hours)
    sign(task)
    task.refresh_from_db()
    assert (task.state, task.leased_until) == ("open", timezone.now() + LEASE)
    later(hours=23)
    assert refused(queue, ben) == NOTHING_FREE
    later(hours=1)
    assert draw_next(condition=queue, person=ben).topic == topics[0]


@pytest.mark.parametrize("sign", [save, tell_time, open_page])
def test_no_sign_of_work_makes_a_lease_of_what_was_given(scratch: Condition, topic, anna, sign):
    task = give(scratch, topic, anna)
    sign(task)
    assert Task.objects.get(pk=task.pk).leased_until is None


def test_nuggets_assignment_and_relevance_begin_it_anew_too(condition, pooled, topic, anna, later, import_file):
    load_runs(pooled, import_file)
    put_in_queue(topics=[topic], condition=condition, acting_user=None)
    task = draw_next(condition=condition, person=anna)
    bank, client = NuggetBank.objects.get(task=task), client_of(anna)

    def ends_anew(task: Task) -> bool:
        later(hours=1)
        return Task.objects.get(pk=task.pk).leased_until == timezone.now() - timedelta(hours=1) + LEASE

    later(hours=5)
    assert client.get(reverse("nugget_editor", args=[bank.pk])).status_code == 200
    assert ends_anew(task)
    uid = uuid4()
    add_nugget(bank, uid=uid, text="a", evidence=None, acting_user=anna, seen=0)
    assert ends_anew(task)
    set_importance(bank, uid=uid, importance="vital", acting_user=anna, seen=1)
    finish_bank(bank, acting_user=anna, seen=2)

    manual = create_manual_assign(nuggets=condition, name="manual", acting_user=None)
    put_in_queue(topics=[topic], condition=manual, acting_user=None)
    assigning = draw_next(condition=manual, person=anna)
    later(hours=5)
    assert client.get(reverse("assignment", args=[assigning.pk])).status_code == 200
    assert ends_anew(assigning)

    grading = give_relevance(pooled, make_person("carla", ASSESSOR))
    Task.objects.filter(pk=grading.pk).update(leased_until=timezone.now())
    later(hours=5)
    assert client_of(grading.person).get(reverse("relevance", args=[grading.pk])).status_code == 200
    assert ends_anew(grading)
    first, *rest = RelevanceJudgment.objects.filter(topic=grading.topic, condition=grading.condition)
    judge_item(first)
    assert ends_anew(grading)
    for item in rest:
        judge_item(item)
    grading.refresh_from_db()
    assert (grading.state, grading.leased_until) == ("finished", None)


def test_what_lacks_nothing_but_the_signature_waits_for_it(queue: Condition, topics, anna, ben, olga, later):
    take_out_of_queue(waiting=Waiting.objects.get(topic=topics[1]), acting_user=olga)
    task = draw_next(condition=queue, person=anna)
    client = client_of(anna)
    for tag, key in (("team.one", "0.0"), ("team.one", "1.0"), ("team.two", "0.0")):
        assert send(client, sheet_of(task, tag), "label", key, label="full").status_code == 200
    later(days=9)
    assert refused(queue, ben) == NOTHING_FREE
    assert sign_off(client, task).status_code == 200
    assert counters(task) == ("finished", 3, 3)


def test_what_was_signed_off_and_opened_again_is_nobody_elses(queue: Condition, topics, anna, ben, olga, later):
    task = draw_next(condition=queue, person=anna)
    finish(task)
    Task.objects.filter(pk=task.pk).update(state="open", done=0)
    later(days=30)
    assert waits(queue) == ["t2"]


# Coming back


def test_who_comes_back_in_time_goes_on(queue: Condition, topics, anna, ben, olga, later):
    task = draw_next(condition=queue, person=anna)
    sheet = sheet_of(task, "team.one")
    assert send(client_of(anna), sheet, "label", "0.0", label="none").status_code == 200
    later(days=9)
    assert send(client_of(anna), sheet, "label", "1.0", label="full").status_code == 200
    assert stands(sheet)["labels"] == {"0.0": "none", "1.0": "full"}
    assert draw_next(condition=queue, person=ben).topic == topics[1]


def test_who_comes_back_too_late_is_told_and_nothing_is_lost(queue: Condition, topics, anna, ben, olga, later):
    take_out_of_queue(waiting=Waiting.objects.get(topic=topics[1]), acting_user=olga)
    task, client = draw_next(condition=queue, person=anna), client_of(anna)
    sheet, done = sheet_of(task, "team.one"), sheet_of(task, "team.two")
    key = uuid4()
    assert send(client, sheet, "label", "0.0", label="none", key=key).status_code == 200
    assert send(client, done, "label", "0.0", label="full").status_code == 200
    later(days=2)
    bens = draw_next(condition=queue, person=ben)
    before = everything("support"), counters(bens), counters(task)
    for late in (
        send(client, sheet, "label", "1.0", label="full", task=task.pk),
        send(client, done, "label", "0.0", label="none", task=task.pk),
        send(client, sheet, "label", "0.0", label="none", key=key, version=0, task=task.pk),  # saved before: sent again
        sign_off(client, task),
        client.post(reverse("time_spent", args=[task.pk]), {"key": str(uuid4()), "seconds": "3"}),
        client.get(reverse("support", args=[task.pk])),
    ):
        assert late.status_code == 404
    assert (everything("support"), counters(bens), counters(task)) == before
    assert stands(sheet) == {"to_do": 2}
    assert [one.verb for one in sheet.revisions.all()] == ["label", "handed over"]
    assert done.revisions.get().judge.person == anna
    assert b"t1" not in client.get("/").content

    # Once Ben leaves it in turn, it may be hers again: what she had done is still there.
    later(days=2)
    assert draw_next(condition=queue, person=anna) == task
    assert counters(task) == ("open", 1, 3)
    assert told("task drawn")[-1][2] == "support of t1 by anna"
    assert [event[2] for event in told("lease ran out")] == ["support of t1 by anna", "support of t1 by ben"]


def test_nuggets_written_too_late_are_refused_even_in_the_same_moment(condition, topic, anna, ben, later):
    put_in_queue(topics=[topic], condition=condition, acting_user=None)
    task, client = draw_next(condition=condition, person=anna), client_of(anna)
    bank = NuggetBank.objects.get(task=task)
    add_nugget(bank, uid=uuid4(), text="hers", evidence=None, acting_user=anna, seen=0)
    later(days=2)
    bens = draw_next(condition=condition, person=ben)
    assert NuggetBank.objects.get(task=bens).order == []
    sent = {"key": str(uuid4()), "version": "1", "uid": str(uuid4()), "text": "late"}
    assert client.post(reverse("nugget_add", args=[bank.pk]), sent).status_code == 404
    with pytest.raises(Closed), transaction.atomic():  # it was read before Ben drew, and is carried out after
        add_nugget(bank, uid=uuid4(), text="late", evidence=None, acting_user=anna, seen=1)
    bank.refresh_from_db()
    assert [nugget.text for nugget in bank.nuggets.all()] == ["hers"]


def test_who_comes_back_while_somebody_draws_keeps_the_topic(
    queue: Condition, topics, anna, ben, olga, later, monkeypatch
):
    take_out_of_queue(waiting=Waiting.objects.get(topic=topics[1]), acting_user=olga)
    task = draw_next(condition=queue, person=anna)
    later(days=2)
    kind = kind_named("support")
    prepare = kind.prepare

    def prepare_meanwhile(bens: Task) -> None:
        prepare(bens)
        note_opened(task)

    monkeypatch.setattr(kind, "prepare", prepare_meanwhile)
    assert refused(queue, ben) == NOT_YOURS
    assert counters(task) == ("open", 0, 3)
    assert {sheet.task for sheet in all_judged(task.condition)} == {task}


def test_what_was_taken_out_while_somebody_looked_is_not_drawn(queue: Condition, topics, anna, olga, monkeypatch):
    def spoiled(*asked: object) -> set[int]:
        for waiting in Waiting.objects.all():
            take_out_of_queue(waiting=waiting, acting_user=olga)
        return set()

    monkeypatch.setattr(drawing, "spoiled", spoiled)
    with pytest.raises(PlanError) as error:
        draw_next(condition=queue, person=anna)
    assert (str(error.value), Task.objects.count()) == (NOTHING_FREE, 0)


def test_a_second_tab_that_was_faster_has_the_same_topic(queue: Condition, anna, monkeypatch):
    there: list[Task] = []

    def spoiled(*asked: object) -> set[int]:
        monkeypatch.setattr(drawing, "spoiled", lambda *asked: set())
        there.append(draw_next(condition=queue, person=anna))
        return set()

    monkeypatch.setattr(drawing, "spoiled", spoiled)
    assert [draw_next(condition=queue, person=anna)] == there
    assert Task.objects.count() == 1


# Races


@pytest.fixture
def many(condition: Condition, campaign: Campaign, import_file) -> list[Topic]:
    """Twenty topics that wait for nuggets."""
    import_file(campaign, "topics", "".join(f"u{number:02}\twhat is {number}\n" for number in range(18)))
    topics = list(Topic.objects.filter(campaign=campaign).order_by("qid"))
    put_in_queue(topics=topics, condition=condition, acting_user=None)
    return topics


def draw_all(condition: Condition, person: Person, most: int) -> list[str]:
    """Draw so often, and finish what was drawn every other time; return the topics in the order they came."""
    chance, drawn = random.Random(person.username), []
    for _ in range(most):
        try:
            task = draw_next(condition=condition, person=person)
        except PlanError:
            continue
        drawn.append(task.topic.qid)
        if chance.random() < 0.5:
            Task.objects.filter(pk=task.pk).update(state=Task.State.FINISHED, leased_until=None)
    return drawn


@pytest.mark.django_db(transaction=True)
def test_however_people_race_each_topic_is_handed_to_one(condition: Condition, many: list[Topic]):
    people = [make_person(f"assessor{number}", ASSESSOR) for number in range(4)]
    # Each twice: somebody who presses in two tabs draws no more than in one.
    drawn = at_once([partial(draw_all, condition, person, 12) for person in people for _ in range(2)])
    assert [type(one) for one in drawn] == [list] * 8, drawn
    tasks = list(Task.objects.values_list("topic__qid", "person__username"))
    assert Counter(qid for qid, _ in tasks).most_common(1)[0][1] == 1
    handed = {(qid, f"assessor{number // 2}") for number, qids in enumerate(drawn) for qid in qids}
    assert handed == set(tasks)
    open_ones = Task.objects.filter(state="open").values_list("person", flat=True)
    assert len(open_ones) == len(set(open_ones))


@pytest.mark.django_db(transaction=True)
def test_who_saves_and_who_takes_over_at_once(scratch: Condition, topic: Topic, anna: Person, ben: Person):
    put_in_queue(topics=[topic], condition=scratch, acting_user=None)
    clients = [client_of(anna) for _ in range(4)]
    for _ in range(4):
        annas = draw_next(condition=scratch, person=anna)
        Task.objects.filter(pk=annas.pk).update(leased_until=timezone.now())
        sheet = sheet_of(annas, "team.one")
        version = sheet.version
        calls: list[Callable[[], Any]] = [
            partial(send, client, sheet, "label", "0.0", label="full", version=version, task=annas.pk)
            for client in clients
        ]
        *saved, drawn = at_once([*calls, partial(draw_next, condition=scratch, person=ben)])
        statuses = sorted(response.status_code for response in saved)
        sheet.refresh_from_db()
        if isinstance(drawn, Task):
            # Whatever was saved before is in the revisions, and taken back.
            assert set(statuses) <= {200, 404, 409}
            assert (sheet.task, sheet.labels) == (drawn, {})
            assert Task.objects.get(pk=annas.pk).state == "withdrawn"
            labels = sheet.revisions.filter(verb="label", version__gt=version)
            assert [one.changes_by_item for one in labels] == [{"0.0": {"label": [None, "full"]}}] * statuses.count(200)
            withdraw_task(task=drawn, acting_user=anna)
        else:
            assert str(drawn) in (NOTHING_FREE, NOT_YOURS)
            assert (sheet.task, sheet.labels, statuses.count(200)) == (annas, {"0.0": "full"}, 1)
            assert Task.objects.get(pk=annas.pk).state == "open"
            assert not Task.objects.filter(person=ben, state="open").exists()
            assert send(clients[0], sheet, "label", "0.0", label="").status_code == 200


# What pages say


def test_which_queues_a_person_has(queue: Condition, answered: Campaign, topics, anna, ben, olga, otto, admin):
    edited = post_edited(answered)
    put_in_queue(topics=topics[:1], condition=edited, acting_user=olga)
    from_scratch_name = {"from scratch": 2, "support post-edited": 1}
    assert {one.name: one.free for one in queues_of(anna)} == from_scratch_name
    draw_next(condition=queue, person=anna)
    assert {one.name: one.free for one in queues_of(ben)} == from_scratch_name | {"from scratch": 1}
    draw_next(condition=edited, person=anna)
    assert {one.name: one.free for one in queues_of(ben)} == {"from scratch": 1, "support post-edited": 0}
    for name, person in (("olga", olga), ("otto", otto), ("admin", admin)):
        assert list(queues_of(person)) == []
        make_assessor(person)
        found = queues_of(Person.objects.get(pk=person.pk))
        assert len(found) == (2 if name == "otto" else 0), name
    add_member(campaign=answered, person=ben, role=Role.ORGANIZER, acting_user=olga)
    assert list(queues_of(ben)) == []


def test_the_rule_that_keeps_organizers_out_can_be_off(queue: Condition, campaign: Campaign, olga, admin):
    change_protocol(campaign=campaign, settings={"blind_after_seeing": False}, acting_user=olga)
    for person in (olga, admin):
        make_assessor(person)
        person = Person.objects.get(pk=person.pk)
        assert [one.free for one in queues_of(person)] == [2]
        task = draw_next(condition=queue, person=person)
        assert task.person == person
        withdraw_task(task=task, acting_user=olga)


def test_the_lease_in_words(queue: Condition, anna, time_machine, topic, ben, olga):
    time_machine.move_to("2026-11-02T10:15:00+00:00", tick=False)
    task = draw_next(condition=queue, person=anna)
    assert lease(task) == "drawn, lease until 2026-11-03 10:15 UTC"
    time_machine.move_to("2026-11-03T10:15:00+00:00", tick=False)
    assert lease(task) == "drawn, lease ran out on 2026-11-03 10:15 UTC"
    task.state = Task.State.FINISHED
    assert lease(task) == ""
    assert lease(give(queue, topic, anna)) == ""


def test_pressing_the_button(queue: Condition, anna: Person, ben: Person, otto: Person):
    client, address = client_of(anna), f"/queues/{queue.pk}/draw/"
    page = client.get("/").content.decode()
    assert ("2 topics free" in page, address in page, "from scratch" in page) == (True, True, False)
    task = Task.objects.none()
    for _ in range(3):
        response = client.post(address)
        task = Task.objects.get()
        assert (response.status_code, response["Location"]) == (302, f"/support/{task.pk}/")
    assert task.person == anna
    page = client.get("/").content.decode()
    assert (address in page, "Continue" in page) == (False, True), "one at a time"
    other = client_of(ben).get("/").content.decode()
    assert ("1 topic free" in other, "anna" in other, "cats" in other) == (True, False, False)
    assert client.get(address).status_code == 405
    assert Client(enforce_csrf_checks=True).post(address).status_code in (401, 403)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ben)
    assert strict.post(address).status_code == 403
    for person, number in ((otto, queue.pk), (anna, queue.pk + 99), (anna, 10**30)):
        assert client_of(person).post(f"/queues/{number}/draw/").status_code == 404
    assert client_of(ben).post(address).status_code == 302
    assert Task.objects.count() == 2
    carla = client_of(make_person("carla", ASSESSOR))
    response = carla.post(address, follow=True)
    assert response.redirect_chain == [("/", 302)]
    assert NOTHING_FREE in response.content.decode()
    assert address not in carla.get("/").content.decode()


def test_who_has_seen_too_much_is_told_so_without_a_name(queue: Condition, topics, anna: Person):
    record_exposure(anna, topics, "support", "test")
    page = client_of(anna).post(f"/queues/{queue.pk}/draw/", follow=True).content.decode()
    assert NOT_YOURS in page
    assert "t1" not in page.split("<main")[1]
