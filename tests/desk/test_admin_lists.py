"""What the admin's lists show: pages in their order, what is searched for, what is filtered."""

import re
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign, Event, Run
from support.models import LabelEvent, SupportJudgment
from tests.conftest import client_of
from tests.judging import all_judged, change
from tests.support.lines import FULL, NONE, PARTIAL, cites, line


@pytest.fixture
def client(admin: Person) -> Client:
    return client_of(admin)


def address(model: type[Model]) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def listed(client: Client, model: type[Model], **query: Any) -> list[int]:
    """Return the keys of the records on a page, in its order."""
    page = client.get(address(model), query)
    assert page.status_code == 200
    return [int(key) for key in re.findall(rf'<a href="{address(model)}(\d+)/change/', page.content.decode())]


def keys(model: type[Model], **of: Any) -> list[int]:
    return [*model._default_manager.filter(**of).order_by("pk").values_list("pk", flat=True)]


@pytest.fixture
def told(admin: Person) -> list[Event]:
    """More than two pages of the history, in an order of their subjects that is not that of their keys."""
    return [history.record("told", f"{key * 7 % 120:03}", campaign=None, person=admin) for key in range(120)]


def test_pages_follow_one_another(client: Client, told: list[Event]):
    newest = [event.pk for event in reversed(told)]
    assert listed(client, Event) == newest[:50]
    assert listed(client, Event, p=2) == newest[50:100]
    assert listed(client, Event, p=3) == newest[100:]
    by_subject = [event.pk for event in sorted(told, key=lambda event: event.subject)]
    assert listed(client, Event, o=3) == by_subject[:50]
    assert listed(client, Event, o=-3, p=2) == by_subject[::-1][50:100]
    assert listed(client, Event, o=-3, p=3) == by_subject[::-1][100:]
    assert listed(client, Event, all="") == newest


def test_each_word_is_looked_for_in_every_field(client: Client, told: list[Event], campaign: Campaign, olga: Person):
    of_olga = history.record("told", "a long story", campaign=campaign, person=olga)
    of_nobody = history.record("asked", "a story", campaign=campaign, person=None)
    assert listed(client, Event, q="story") == [of_nobody.pk, of_olga.pk]
    assert listed(client, Event, q="STORY told") == [of_olga.pk]
    assert listed(client, Event, q="olg story") == [of_olga.pk]
    assert listed(client, Event, q="olg asked") == []
    assert listed(client, Event, q='"long story"') == [of_olga.pk]
    assert listed(client, Event, q='"story long"') == []
    assert listed(client, Event, q="story", verb="asked") == [of_nobody.pk]
    assert listed(client, Event, q="admin", p=3) == [event.pk for event in told[:20][::-1]]


def test_what_is_found_twice_is_listed_once(client: Client, campaign: Campaign, import_file):
    import_file(campaign, "runs", [{"run_id": "r1", "topic_id": "t1", "references": [], "answer": []}])
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nr1,,,,,other others\n")
    assert listed(client, Run, q="other") == [Run.objects.get(tag="r1").pk]


@pytest.fixture
def judged(campaign: Campaign, olga: Person, import_file) -> dict[str, list[int]]:
    """The keys of support judgments by condition: of two conditions in this campaign, and of one in another."""
    other = create_campaign(name="Other", slug="other", acting_user=olga)
    import_file(other, "topics", "t1\twhy do cats purr\n")
    for of, name, qid, run, cited in [
        (campaign, "first", "t1", "r1", {"d1": FULL, "d2": NONE}),
        (campaign, "second", "t2", "r2", {"d3": PARTIAL}),
        (other, "third", "t1", "r3", {"d1": NONE}),
    ]:
        answer = [{"text": "Yes.", "citations": [*range(len(cited))]}]
        import_file(of, "runs", [{"run_id": run, "topic_id": qid, "references": [*cited], "answer": answer}])
        import_file(of, "support", [line(qid, run, cites("Yes.", **cited))], condition=name, by="people")
        [sheet] = all_judged(of.conditions.get(name=name))
        change(sheet, {"0.0": {"label": "partial"}})
    return {name: keys(SupportJudgment, sheet__condition__name=name) for name in ("first", "second", "third")}


def test_labels_are_found_by_topic_run_and_citation(client: Client, judged: dict[str, list[int]]):
    first, second, third = judged.values()
    assert [len(found) for found in judged.values()] == [2, 1, 1]
    assert listed(client, SupportJudgment) == [*first, *second, *third]
    assert listed(client, SupportJudgment, q="t1") == [*first, *third]
    assert listed(client, SupportJudgment, q="r2") == second
    assert listed(client, SupportJudgment, q="t1 d1") == [first[0], *third]
    assert listed(client, SupportJudgment, q="t2 d1") == []


def test_labels_and_their_events_are_filtered_by_condition_and_campaign(
    client: Client, campaign: Campaign, judged: dict[str, list[int]]
):
    first, second, third = judged.values()
    condition = campaign.conditions.get(name="first")
    of_campaign = {"sheet__condition__campaign__id__exact": campaign.pk}
    of_condition = {"sheet__condition__id__exact": condition.pk}
    assert listed(client, SupportJudgment, **of_campaign) == [*first, *second]
    assert listed(client, SupportJudgment, **of_condition) == first
    assert listed(client, SupportJudgment, **of_condition, value="none") == [first[1]]
    assert listed(client, SupportJudgment, **of_condition, q="t2") == []
    first, second, third = (keys(LabelEvent, sheet__condition__name=name) for name in judged)
    assert [len(found) for found in (first, second, third)] == [1, 1, 1]
    assert listed(client, LabelEvent) == [*third, *second, *first]
    assert listed(client, LabelEvent, **of_campaign) == [*second, *first]
    assert listed(client, LabelEvent, **of_condition) == first


def test_a_filter_by_no_key_is_taken_away(client: Client, judged: dict[str, list[int]]):
    answer = client.get(address(SupportJudgment), {"sheet__condition__id__exact": "first"})
    assert answer["Location"] == f"{address(SupportJudgment)}?e=1"


def test_a_page_with_nothing_on_it_is_asked_for_once(client: Client, judged: dict[str, list[int]]):
    with CaptureQueriesContext(connection) as queries:
        assert listed(client, SupportJudgment, q="nothing") == []
    of_labels = [query["sql"] for query in queries if 'FROM "support_supportjudgment"' in query["sql"]]
    assert [sql.startswith("SELECT COUNT(*)") for sql in of_labels] == [True]
