"""Many topics are given by a worker, a few at a time: whoever saves meanwhile waits for none of the others."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition, Event, Topic
from assessor.plan import tasks
from assessor.plan.actions import advance, follow_scope, plan_work
from assessor.plan.models import Planned
from assessor.work.blindness import record_exposure
from assessor.work.models import Task
from tests.conftest import client_of
from tests.judging import all_judged
from tests.llm.test_trials import run_at_once
from tests.plan.test_page import GIVE, PLAN
from tests.support.judging_helpers import from_scratch, run_file

TOPICS = 12


@pytest.fixture
def many(campaign: Campaign, import_file: Callable) -> list[Topic]:
    """Topics that two runs answer."""
    qids = [f"many{number:02}" for number in range(TOPICS)]
    import_file(campaign, "topics", "".join(f"{qid}\twhy\n" for qid in qids))
    for tag in ("team.one", "team.two"):
        cited = [("Cats purr.", ["d1"])]
        import_file(campaign, "runs", run_file(tag, dict.fromkeys(qids, cited)), name=tag)
    return list(campaign.topics.filter(qid__in=qids).order_by("qid"))


@pytest.fixture
def scratch(campaign: Campaign) -> Condition:
    return from_scratch(campaign)


def most_in_a_transaction(queries: list[dict[str, str]], table: str) -> int:
    """Return how many rows were written at most between two ends of a transaction."""
    counts = [0]
    for query in queries:
        if query["sql"] == "COMMIT":
            counts.append(0)
        counts[-1] += query["sql"].startswith(f'INSERT INTO "{table}"')
    return max(counts)


def form_of(many: list[Topic], scratch: Condition, person: Person, rule: str = "all") -> dict[str, object]:
    """Return the form that gives all topics."""
    topics = [topic.pk for topic in many]
    return {"topics": topics, "condition": scratch.pk, "person": person.pk, "rule": rule, "confirmed": "yes"}


@pytest.mark.django_db(transaction=True)
def test_many_topics_are_given_a_few_in_a_transaction_while_the_page_says_so(
    many: list[Topic], scratch: Condition, anna: Person, olga: Person, worker
):
    client = client_of(olga)
    page = client.post(GIVE, form_of(many, scratch, anna), follow=True).content.decode()
    assert f"Being given under from scratch: {TOPICS} topics." in page
    assert f"<strong>{TOPICS} pieces of work are being given.</strong>" in page
    assert f"{TOPICS} being given, 0 for earlier work, 0 in a queue" in page
    assert f'hx-get="{PLAN}" hx-trigger="every 2s"' in page
    assert "Waiting under" not in page
    assert "Check now" not in page
    polled = client.get(PLAN, headers={"HX-Request": "true"}).content.decode()
    assert polled.strip().startswith('<div class="note here" id="giving"')
    assert f"<strong>{TOPICS} pieces of work are being given.</strong>" in polled
    assert not Task.objects.exists()
    with CaptureQueriesContext(connection) as asked:
        assert worker() == 1
    assert Task.objects.filter(person=anna, created_by=olga, state="open").count() == TOPICS
    assert len(all_judged(scratch)) == 2 * TOPICS
    assert most_in_a_transaction(asked.captured_queries, "work_task") == 8
    polled = client.get(PLAN, headers={"HX-Request": "true"})
    assert (polled.status_code, polled.headers["HX-Refresh"]) == (204, "true")
    assert "being given" not in client.get(PLAN).content.decode()
    client.post(GIVE, form_of(many, scratch, anna, "none"))
    with CaptureQueriesContext(connection) as asked:
        assert worker() == 1
    assert (len(all_judged(scratch)), len(all_judged(scratch, in_or_out=True))) == (0, 2 * TOPICS)
    moved = [query["sql"] for query in asked.captured_queries if "out_of_scope" in query["sql"]]
    assert len([sql for sql in moved if re.match('UPDATE "support_supportsheet"', sql)]) == TOPICS


@pytest.mark.django_db(transaction=True)
def test_who_has_the_topics_is_asked_once_for_what_another_rule_brings_and_never_where_it_brings_nothing(
    many: list[Topic], scratch: Condition, anna: Person, olga: Person, worker, monkeypatch: pytest.MonkeyPatch
):
    client, kind = client_of(olga), kind_of(scratch)
    renewed: list[str] = []
    renew = kind.renew
    monkeypatch.setattr(kind, "renew", lambda task: (renewed.append(task.topic.qid), renew(task)))
    seen = []
    for rule in ("1 per team", "all", "none", "all"):
        client.post(GIVE, form_of(many, scratch, anna, rule))
        worker()
        seen.append((len(all_judged(scratch)), sorted(renewed)))
        renewed.clear()
        given = {task.topic: (task.state, task.total) for task in Task.objects.all()}
        assert given == dict.fromkeys(many, ("open", len(all_judged(scratch)) // TOPICS))
        waits = "There is no answer to judge on many03 under from scratch."
        assert list(Planned.objects.filter(topic=many[3]).values_list("waits_for", flat=True)) == (
            [waits] if rule == "none" else []
        )
    qids = [topic.qid for topic in many]
    assert seen == [(2 * TOPICS, []), (2 * TOPICS, qids), (0, []), (2 * TOPICS, qids)]
    assert Event.objects.filter(verb="task given").count() == TOPICS
    assert Event.objects.filter(verb="runs to judge").count() == 4 * TOPICS


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rules", [("all", "none"), ("all", "none", "all")])
def test_how_many_are_left_is_told_while_another_rule_is_carried_out(
    rules: tuple[str, ...], many: list[Topic], scratch: Condition, anna: Person, olga: Person, worker, monkeypatch
):
    client = client_of(olga)
    for rule in rules:
        worker()
        client.post(GIVE, form_of(many, scratch, anna, rule))
    told: list[str] = []

    def look(*args: Any, **named: Any) -> None:
        polled = client.get(PLAN, headers={"HX-Request": "true"}).content.decode()
        told.extend(re.findall("<strong>(.*?) of work", polled))
        follow_scope(*args, **named)

    monkeypatch.setattr("assessor.plan.actions.planned_work.follow_scope", look)
    worker()
    assert told == [*(f"{left} pieces" for left in range(TOPICS, 1, -1)), "1 piece"]


@pytest.mark.django_db(transaction=True)
def test_what_breaks_off_is_given_once_somebody_opens_the_plan(
    many: list[Topic], scratch: Condition, anna: Person, olga: Person, worker, monkeypatch: pytest.MonkeyPatch
):
    client = client_of(olga)
    client.post(GIVE, form_of(many, scratch, anna))
    with monkeypatch.context() as broken:
        broken.setattr("assessor.plan.actions.planned_work.advance", lambda campaign: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            worker()
    assert (Task.objects.count(), Planned.objects.count()) == (0, TOPICS)
    page = client.get(PLAN).content.decode()
    assert '<span class="sub">Giving it broke off, and the log says why. Check again.</span>' in page
    assert "Check now" in page
    tasks.take_up_plans()
    assert worker() == 0, "what goes wrong is not tried for ever"
    client.post(f"{PLAN}advance/", headers={"HX-Request": "true"})
    assert (Task.objects.filter(person=anna).count(), Planned.objects.count()) == (TOPICS, 0)
    assert len(all_judged(scratch)) == 2 * TOPICS


@pytest.mark.django_db(transaction=True)
def test_what_was_planned_while_the_database_or_a_message_was_lost_is_taken_up(
    many: list[Topic], scratch: Condition, anna: Person, olga: Person, worker, monkeypatch: pytest.MonkeyPatch
):
    def away(campaign: Campaign) -> None:
        raise OperationalError("gone")

    client_of(olga).post(GIVE, form_of(many, scratch, anna))
    with monkeypatch.context() as broken:
        broken.setattr("assessor.plan.actions.planned_work.advance", away)
        with pytest.raises(OperationalError):
            worker()
    tasks.take_up_plans()
    assert worker() == 1
    assert Task.objects.filter(person=anna, created_by=olga).count() == TOPICS
    tasks.take_up_plans()
    assert worker() == 0


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_give_nothing_twice(
    many: list[Topic], scratch: Condition, anna: Person, olga: Person, worker
):
    client_of(olga).post(GIVE, form_of(many, scratch, anna))

    def give() -> None:
        try:
            tasks.give_planned.run(scratch.campaign_id, olga.pk)
        finally:
            connection.close()

    run_at_once([give, give])
    assert Planned.objects.count() == 0
    assert Task.objects.filter(person=anna, state="open", total=2).count() == Task.objects.count() == TOPICS
    assert len(all_judged(scratch, in_or_out=True)) == 2 * TOPICS
    assert Event.objects.filter(verb="task given").count() == TOPICS


def test_a_topic_that_a_person_cannot_have_any_more_keeps_none_of_the_others_back(
    many: list[Topic], scratch: Condition, anna: Person, olga: Person
):
    plan_work(condition=scratch, topics=many, person=anna, acting_user=olga)
    record_exposure(anna, [many[3]], "support", "test")
    assert advance(scratch.campaign) == TOPICS - 1
    [left] = Planned.objects.all()
    assert (left.topic, left.waits_for) == (
        many[3],
        "anna has seen LLM output of this kind on many03, and from scratch is done blind.",
    )
