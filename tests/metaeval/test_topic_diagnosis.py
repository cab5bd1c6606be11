"""On which nuggets the tau of a topic rests: the section of a comparison's page of a topic."""

import csv
import io
import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.campaigns.condition_kind import CIRCULAR, ConditionKind
from assessor.campaigns.models import Campaign, Condition, Judge
from assessor.runtime.process_cache import cache
from metaeval.actions import create_comparison, run
from metaeval.models import Comparison
from metaeval.stats.means import Policy
from metaeval.topic_diagnosis import TopicDiagnosis, diagnose, diagnosed_sides
from tests.assignment.scored import auto_condition, import_banks, label
from tests.conftest import client_of
from tests.judging import asked, change, judged, leave_out


@pytest.fixture
def client(olga) -> Client:
    return client_of(olga)


def compare(first: Condition, second: Condition, policy: Policy = Policy.ZERO, **asked: object) -> Comparison:
    calculation = create_comparison(
        campaign=first.campaign, first=first, second=second, policy=policy, draws=20, seed=3, acting_user=None, **asked
    )
    assert run(calculation).state == "done"
    return calculation.comparison


@pytest.fixture
def compared(first: Condition, second: Condition) -> Comparison:
    return compare(first, second)


def diagnosis(comparison: Comparison, qid: str = "t1") -> TopicDiagnosis:
    sides = diagnosed_sides(comparison)
    assert sides
    _, found = diagnose(comparison, sides, comparison.campaign.topics.get(qid=qid), "vstrict")
    assert found
    return found


def address(comparison: Comparison, qid: str = "t1") -> str:
    topic = comparison.campaign.topics.get(qid=qid)
    return f"/campaigns/study/comparisons/{comparison.pk}/topics/{topic.pk}/"


def page(client: Client, where: str) -> str:
    response = client.get(where)
    assert response.status_code == 200, where
    return response.content.decode()


def sentence(text: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", text.split('<p class="in sum">')[1].split("</p>")[0]))


def table(client: Client, where: str) -> dict[str, dict[str, str]]:
    response = client.get(where)
    assert response.status_code == 200, where
    rows = csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode()))  # type: ignore[attr-defined]
    return {row["nugget"]: row for row in rows}


def test_the_influence_of_nuggets_by_hand(client: Client, compared: Comparison):
    """V strict of the three runs: 1/2, 1, 0 and 1, 1/2, 0. Without either vital nugget one side of each pair ties."""
    rows = table(client, f"{address(compared)}influence.csv")
    assert list(rows) == ["purring heals", "cats purr when content", "kittens purr"]
    heals, okay = rows["purring heals"], rows["kittens purr"]
    assert float(heals["tau_without"]) == pytest.approx(1 / 2)
    assert float(heals["change"]) == pytest.approx(1 / 2 - 1 / 3)
    assert (heals["flips"], heals["labels"], heals["differ"]) == ("1", "3", "1")
    assert (okay["tau_without"], okay["undefined"]) == ("", "no weight in this measure")
    assert float(heals["mean_first"]) == pytest.approx(2 / 3)
    assert float(heals["mean_second"]) == pytest.approx(1 / 3)
    by_all = table(client, f"{address(compared)}influence.csv?measure=a")
    assert by_all["kittens purr"]["tau_without"] != ""


def test_the_sentence_says_what_the_numbers_say(client: Client, compared: Comparison):
    text = page(client, address(compared))
    assert sentence(text) == (
        "By Vital, strict, both sides rank 3 runs on this topic with τ 0.33; the nugget “purring heals” has the "
        "largest influence: without it on both sides, τ would rest on 1 nugget and be 0.50; 1 of 1 pairs of runs in "
        "opposite orders rest on three nuggets or fewer."
    )
    assert "1 on one, 0 on two, 0 on three, of 1." in text


@pytest.mark.parametrize("policy", [Policy.ZERO, Policy.ANSWERED])
@pytest.mark.parametrize("qid", ["t1", "t2"])
def test_tau_is_that_of_the_comparison(first: Condition, second: Condition, policy: Policy, qid: str):
    compared = compare(first, second, policy)
    told = {row["qid"]: row["tau"] for row in compared.calculations.get().result["topics"]}
    tau = diagnosis(compared, qid).tau
    assert tau.value == (told[qid] if told[qid] is None else pytest.approx(told[qid]))
    assert tau.n == (2 if qid == "t2" and policy == Policy.ANSWERED else 3)  # the third run did not answer t2
    assert any(value is not None for value in told.values())


def test_only_runs_that_are_compared_count(first: Condition, second: Condition):
    compared = compare(first, second, runs=["team.one", "team.two"])
    assert diagnosis(compared).tau == (-1, 2, "")


@pytest.mark.parametrize("asked", [False, True])
def test_circular_runs_count_where_somebody_asks_for_it(
    first: Condition, second: Condition, monkeypatch: pytest.MonkeyPatch, asked: bool
):
    monkeypatch.setattr(ConditionKind, "run_marks", lambda self, condition: {"team.one": CIRCULAR})
    compared = compare(first, second, circular=asked)
    assert diagnosis(compared).tau.n == 2 + asked


def test_queries_do_not_grow(client: Client, compared: Comparison):
    """The one topic has more runs and nuggets than the other."""
    counts = []
    for qid in ("t1", "t2"):
        client.get(address(compared, qid))
        cache.clear()
        with CaptureQueriesContext(connection) as asked:
            client.get(address(compared, qid))
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_the_influence_on_all_topics_is_that_on_each_in_as_many_queries(client: Client, compared: Comparison):
    whole = f"/campaigns/study/exports/influence/file/?of={compared}&measure=a"

    def lines(where: str) -> tuple[list[str], int]:
        cache.clear()
        with CaptureQueriesContext(connection) as executed:
            response = client.get(where)
            text = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]
        return text.splitlines(), len(executed)

    each = [lines(f"{address(compared, qid)}influence.csv?measure=a")[0] for qid in ("t1", "t2")]
    all_topics, queries = lines(whole)
    assert all_topics == [*each[0], *each[1][1:]]
    assert [line.split(",")[0] for line in all_topics] == ["topic", "t1", "t1", "t1", "t2", "t2"]
    assert queries <= lines(f"{whole}&topics=t1")[1]


def test_differences_on_a_page_are_of_labels_of_now(client: Client, first: Condition, compared: Comparison):
    before, kept = (page(client, address(compared)).count("team.one") for _ in range(2))
    sheet = judged(first, "team.one", "t1")
    change(sheet, {asked(sheet)[1]: {"label": "support"}})  # as on the other side
    after = page(client, address(compared)).count("team.one")
    assert (before, kept, after) == (3, 3, 0)


def test_parts_add_up(compared: Comparison):
    found = diagnosis(compared)
    # s p n, s s s, n n n less s s n, n s s, n n n: 1/2 of nine labels.
    for feature, parts in found.parts.items():
        assert sum(part.contribution.value or 0 for part in parts) == pytest.approx((1 - 0.5) / 9), feature
    assert [(part.level, part.nuggets) for part in found.parts["Importance"]] == [("vital", 2), ("okay", 1)]
    assert [(part.level, part.differ) for part in found.parts["Number"]] == [("no", 2)]


def test_the_way_to_the_labels_of_a_nugget(client: Client, first: Condition, compared: Comparison):
    nugget = first.nuggets.nugget_banks.get(topic__qid="t1").nuggets.get(text="purring heals")
    text = page(client, address(compared))
    assert f'href="?item={nugget.pk}#differ"' in text
    listed = text.split('id="differ"')[1]
    assert "cats purr when content" in listed
    of_one = page(client, f"{address(compared)}?item={nugget.pk}").split('id="differ"')[1]
    assert "purring heals" in of_one
    assert "cats purr when content" not in of_one


def test_labels_change_through_blind_judging_alone(client: Client, compared: Comparison):
    """The page never says what tau would be had labels been others; those of people are judged again from here."""
    assert "labels are judged again.</div>" in page(client, address(compared))
    of_people = Judge.objects.create(kind="imported", name="NIST", parameters={"by": "people"})
    Condition.objects.filter(pk=compared.second.pk).update(judge=of_people)
    text = page(client, address(compared))
    assert "mixed with as many on which both sides agree" in text
    # The first labels are people's, whichever side of the comparison they are.
    sides = f"first={compared.second.pk}&amp;second={compared.first.pk}"
    assert f'href="/campaigns/study/rejudging/?name=Re-judging+of+t1&amp;{sides}&amp;topic=' in text


def test_where_importance_is_missing_other_measures_are_offered(
    client: Client, answered: Campaign, import_file, first: Condition
):
    bank = {"t1": [("purring heals", "vital"), ("cats purr when content", "")]}
    nuggets = import_banks(answered, import_file, bank, name="Partly")
    labels = {"t1": {"team.one": "sn", "team.two": "ss", "team.empty": "nn"}}
    one, other = (label(auto_condition(nuggets, name), labels) for name in ("One", "Other"))
    compared = compare(one, other)
    topic = answered.topics.get(qid="t1")
    measures, of_first = diagnose(compared, (one, other), topic)
    assert [measure.key for measure in measures] == ["astrict", "a"]
    assert of_first
    assert diagnose(compared, (one, other), topic, "vstrict") == (measures, None)
    assert "By All, strict, both sides rank 3 runs on this topic with τ 1.00" in sentence(
        page(client, address(compared))
    )
    assert client.get(f"{address(compared)}?measure=vstrict").status_code == 404


def test_left_out_nuggets_do_not_count(client: Client, first: Condition, compared: Comparison):
    gone = first.nuggets.nugget_banks.get(topic__qid="t1").nuggets.get(text="purring heals")
    leave_out(first, gone.pk, "unclear")
    assert "purring heals" not in table(client, f"{address(compared)}influence.csv")


def test_other_comparisons_have_no_such_section(
    client: Client, campaign: Campaign, first_support: Condition, second_support: Condition
):
    compared = compare(first_support, second_support)
    assert "Influence of each" not in page(client, address(compared))
    assert client.get(f"{address(compared)}influence.csv").status_code == 404
