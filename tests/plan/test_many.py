"""Many topics are given a few at a time: whoever saves meanwhile waits for none of the others."""

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.plan.actions import advance, plan_work
from assessor.plan.models import Planned
from assessor.work.blindness import record_exposure
from assessor.work.models import Task
from tests.conftest import client_of
from tests.judging import all_judged
from tests.plan.test_page import GIVE, PLAN
from tests.support.judging_helpers import from_scratch, run_file

TOPICS = 20


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


@pytest.mark.django_db(transaction=True)
def test_many_topics_are_given_a_few_in_a_transaction(
    many: list[Topic], scratch: Condition, anna: Person, olga: Person
):
    client = client_of(olga)
    form = {"topics": [topic.pk for topic in many], "condition": scratch.pk, "person": anna.pk, "rule": "all"}
    with CaptureQueriesContext(connection) as asked:
        page = client.post(GIVE, form, follow=True).content.decode()
    assert f"anna has {TOPICS} topics under from scratch." in page
    assert "Waiting under" not in page
    assert Task.objects.filter(person=anna, created_by=olga, state="open").count() == TOPICS
    assert len(all_judged(scratch)) == 2 * TOPICS
    assert most_in_a_transaction(asked.captured_queries, "work_task") == 8
    none = form | {"rule": "none", "confirmed": "yes"}
    with CaptureQueriesContext(connection) as asked:
        client.post(GIVE, none)
    assert (len(all_judged(scratch)), len(all_judged(scratch, in_or_out=True))) == (0, 2 * TOPICS)
    moved = [query["sql"] for query in asked.captured_queries if "out_of_scope" in query["sql"]]
    assert len([sql for sql in moved if re.match('UPDATE "support_supportsheet"', sql)]) == TOPICS


@pytest.mark.django_db(transaction=True)
def test_what_breaks_off_is_given_once_somebody_opens_the_plan(
    many: list[Topic], scratch: Condition, anna: Person, olga: Person, monkeypatch: pytest.MonkeyPatch
):
    client = client_of(olga)
    form = {"topics": [topic.pk for topic in many], "condition": scratch.pk, "person": anna.pk, "rule": "all"}
    with monkeypatch.context() as broken:
        broken.setattr("assessor.plan.actions.planned_work.advance", lambda campaign: 1 / 0)
        page = client.post(GIVE, form, follow=True).content.decode()
    assert f"Waiting under from scratch: {TOPICS} topics. It was planned a moment ago." in page
    assert (Task.objects.count(), Planned.objects.count()) == (0, TOPICS)
    client.post(f"{PLAN}advance/", headers={"HX-Request": "true"})
    assert (Task.objects.filter(person=anna).count(), Planned.objects.count()) == (TOPICS, 0)
    assert len(all_judged(scratch)) == 2 * TOPICS


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
