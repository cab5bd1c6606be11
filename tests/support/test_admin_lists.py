"""Labels in the admin's lists: what is searched for, what is filtered."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign
from support.models import LabelEvent, SupportJudgment
from tests.conftest import client_of
from tests.desk.test_admin_lists import address, keys, listed
from tests.judging import all_judged, change
from tests.support.lines import FULL, NONE, PARTIAL, cites, line


@pytest.fixture
def client(admin: Person) -> Client:
    return client_of(admin)


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
