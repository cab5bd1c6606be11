"""Two banks side by side: matched by an organizer or a model, and what that says of them."""

import csv
import io
import json
import re
from html import unescape

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError
from assessor.campaigns.models import Campaign, Condition, Judge
from assessor.llm import runner
from assessor.llm.actions import JobError, launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, ModelJudge
from metaeval.matched_banks import matched_banks, topic_rows
from nuggets.matching.actions import create_manual_matching
from nuggets.matching.condition_kind import MATCHING
from nuggets.matching.models import BankMatching, NuggetMatch
from nuggets.models import BankEdition, Drafting, NuggetBank
from nuggets.queries import banks_by_topic
from tests.assignment.conftest import answered as answered
from tests.assignment.scored import auto_condition, import_banks, label
from tests.conftest import client_of
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge

# Beside BANKS: purring heals, cats purr when content, kittens purr; glass is melted, glass is sorted.
OTHER = {
    "t1": [
        ("purring heals bones", "okay"),
        ("purring heals", "vital"),
        ("kittens purr", "okay"),
        ("lions roar", "okay"),
    ],
    "t2": [("glass is melted", "vital")],
}


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def people(answered: Campaign, import_file) -> Condition:
    return import_banks(answered, import_file)


@pytest.fixture
def other(answered: Campaign, import_file) -> Condition:
    return import_banks(answered, import_file, OTHER, "Other")


@pytest.fixture
def matching(people: Condition, other: Condition) -> Condition:
    sides = {"nuggets": people, "other_nuggets": other}
    return create_manual_matching(campaign=people.campaign, **sides, name="Side by side", acting_user=None)


def address(condition: Condition, qid: str = "", name: str = "matched_topic") -> str:
    topic = [condition.campaign.topics.get(qid=qid).pk] if qid else []
    return reverse(name if qid else "matched_banks", args=[condition.campaign.slug, condition.pk, *topic])


def match(client: Client, condition: Condition, qid: str, *numbers: str, known: int = 0) -> int:
    sent = {"known": known, **{f"n{at}": text for at, text in enumerate(numbers)}}
    return client.post(address(condition, qid), sent).status_code


def text(client: Client, url: str) -> str:
    page = client.get(url)
    assert page.status_code == 200
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.content.decode())).split())


def told(client: Client, condition: Condition) -> dict:  # type: ignore[type-arg]
    url = reverse("matched_banks_file", args=[condition.campaign.slug, condition.pk, "json"])
    found: dict = json.loads(b"".join(client.get(url)))  # type: ignore[type-arg, call-overload]
    return found


def test_an_organizer_matches_banks_and_sees_what_each_has_of_the_other(people, other, olga, as_olga: Client):
    slug = people.campaign.slug
    sides = {"nuggets": people.pk, "other_nuggets": other.pk}
    assert as_olga.post(reverse("bank_matchings", args=[slug]), sides).status_code == 302
    condition = people.campaign.conditions.get(kind="matching")
    assert condition.name == "Edits beside Other"
    assert "2 topics have both banks; none is matched yet." in text(as_olga, address(condition))
    assert match(as_olga, condition, "t1", "1, 2", "", "3") == 302
    assert match(as_olga, condition, "t2", "1", "") == 302
    found = told(as_olga, condition)
    # 3 of 5 nuggets of the first bank; 4 of 5 of the second, two of which state one fact.
    assert (found["recall"]["value"], found["precision"]["value"]) == (0.6, 0.8)
    assert found["facts"] == {"first": 5, "second": 4, "both": 3}
    # By hand: okay-vital, vital-vital, okay-okay, vital-vital.
    assert found["importance"]["matrix"] == [[1, 0], [1, 2]]
    assert found["importance"]["kappa"]["value"] == 0.5
    # Chapman on t1: (3 + 1)(3 + 1)/(2 + 1) - 1, on t2: (2 + 1)(1 + 1)/(1 + 1) - 1.
    assert found["facts_at_least"]["estimate"] == pytest.approx(13 / 3 + 2)
    assert found["facts_at_least"]["seen"] == 4 + 2
    assert found["by_topic"]["t2"]["recall"]["value"] == 0.5
    page = text(as_olga, address(condition))
    assert "Other has 60 % of the 5 nuggets of Edits, and 80 % of its own 5 nuggets are there too." in page
    assert "at least 4" in page
    url = reverse("matched_banks_file", args=[slug, condition.pk, "csv"])
    rows = list(csv.DictReader(io.StringIO(b"".join(as_olga.get(url)).decode())))
    assert [(row["topic"], row["first_nugget"], row["second_nugget"]) for row in rows] == [
        ("t1", "purring heals", "purring heals bones"),
        ("t1", "purring heals", "purring heals"),
        ("t1", "cats purr when content", ""),
        ("t1", "kittens purr", "kittens purr"),
        ("t1", "", "lions roar"),
        ("t2", "glass is melted", "glass is melted"),
        ("t2", "glass is sorted", ""),
    ]
    assert {row["matched_by"] for row in rows} == {str(olga)}


def test_what_cannot_be_kept_is_refused_and_nothing_is_lost(matching: Condition, as_olga: Client):
    for wrong in ("5", "0", "one", "-1", "1.5"):
        page = as_olga.post(address(matching, "t1"), {"known": 0, "n0": wrong})
        assert "is no nugget of the second bank: write numbers from 1 to 4." in page.content.decode()
    assert not BankMatching.objects.exists()
    assert match(as_olga, matching, "t1", "2", "", "3") == 302
    # Somebody who saw none yet does not overwrite it; who saw it adds another one, which counts.
    assert match(as_olga, matching, "t1", "1") == 200
    assert topic_rows(matching)[0].pairs == {(0, 1), (2, 2)}
    assert match(as_olga, matching, "t1", "1", known=1) == 302
    assert topic_rows(matching)[0].pairs == {(0, 0)}
    assert NuggetMatch.objects.count() == 3
    assert 'value="1"' in as_olga.get(address(matching, "t1")).content.decode()


def test_a_matching_is_outdated_once_a_bank_is_finished_again(matching: Condition, as_olga: Client):
    match(as_olga, matching, "t1", "2", "", "3")
    conditions, plan = (reverse(name, args=[matching.campaign.slug]) for name in ("conditions", "plan"))
    assert "1 of 2 topics" in text(as_olga, conditions)
    assert "Side by side" not in text(as_olga, plan)  # assessors are never given it
    bank = NuggetBank.objects.get(condition=matching.nuggets, topic__qid="t1")
    [edition] = bank.editions.all()
    again = {"edition": bank.edition + 1, "version": 9, "nuggets": edition.nuggets[1:]}
    BankEdition.objects.create(bank=bank, **again)
    NuggetBank.objects.filter(pk=bank.pk).update(edition=bank.edition + 1)
    row = topic_rows(matching)[0]
    assert (row.is_outdated, row.found, row.pairs) == (True, None, {(1, 2)})  # what both still have, to start from
    assert "outdated" in text(as_olga, address(matching))
    [counted] = MATCHING.conditions(matching.campaign)
    assert (counted.matched, counted.both) == (0, 2)
    assert match(as_olga, matching, "t1", "", "3", known=1) == 302
    assert topic_rows(matching)[0].pairs == {(1, 2)}


def reason(condition: Condition) -> str:
    at_least = topic_rows(condition)[0].at_least
    assert at_least is not None
    return at_least.why


def test_chapman_is_refused_where_makers_are_not_independent_or_a_list_is_full(matching: Condition, as_olga: Client):
    match(as_olga, matching, "t1", "2", "", "3")
    assert reason(matching) == ""
    first, second = (
        banks_by_topic(one, matching.campaign.topics.all()) for one in (matching.nuggets, matching.other_nuggets)
    )
    t1 = matching.campaign.topics.get(qid="t1").pk
    bank, other_bank = first[t1], second[t1]
    model = Judge.objects.create(kind="model", name="Drafter")
    drafted = Drafting.objects.create(
        condition=bank.condition, topic_id=t1, judge=model, steps=[{"docids": [], "nuggets": ["purring heals"]}]
    )
    # The model that drafted what people edited made the other bank.
    NuggetBank.objects.filter(pk=bank.pk).update(drafting=drafted)
    assert reason(matching) == ""
    maker = other_bank.maker
    NuggetBank.objects.filter(pk=other_bank.pk).update(maker=model)
    assert reason(matching) == "Drafter had a part in both banks"
    assert matched_banks(matching).at_least.total is None
    NuggetBank.objects.filter(pk=other_bank.pk).update(maker=maker)
    protocol = matching.campaign.protocol
    type(protocol).objects.filter(pk=protocol.pk).update(max_nuggets=4)
    fresh = type(matching).objects.get(pk=matching.pk)
    assert reason(fresh) == "the list of Other is as long as it may be"


def test_both_banks_rank_runs_alike_or_not(matching: Condition, as_olga: Client):
    one = label(
        auto_condition(matching.nuggets, "By one"), {"t1": {"team.one": "sss", "team.two": "snn", "team.empty": "nnn"}}
    )
    two = auto_condition(matching.other_nuggets, "Of the other")
    Condition.objects.filter(pk=two.pk).update(judge=one.judge)
    two.refresh_from_db()
    label(two, {"t1": {"team.one": "nsnn", "team.two": "ssss", "team.empty": "nnnn"}})
    label(auto_condition(matching.other_nuggets, "Another's"), {"t1": {"team.one": "ssss"}})
    match(as_olga, matching, "t1", "2", "", "3")
    [ranking] = matched_banks(matching).rankings
    assert (ranking.first, ranking.second, ranking.topics) == (one, two, 1)
    assert (ranking.tau.value, ranking.tau.n) == (pytest.approx(2 / 6**0.5), 3)
    assert "Runs are ranked with τ 0.82 between the two." in text(as_olga, address(matching))


def test_only_two_different_conditions_of_the_same_kind_are_matched(people, other):
    with pytest.raises(ConditionError, match="can't be matched with itself"):
        create_manual_matching(campaign=people.campaign, nuggets=people, other_nuggets=people, acting_user=None)
    Condition.objects.filter(pk=other.pk).update(kind="questions")
    other.refresh_from_db()
    with pytest.raises(ConditionError, match="both with the same"):
        create_manual_matching(campaign=people.campaign, nuggets=people, other_nuggets=other, acting_user=None)


# By a model

MATCH = job_kind_named("AutoMatch")


def launched(judge: ModelJudge, people: Condition, other: Condition) -> Job:
    topics = list(people.campaign.topics.order_by("qid"))
    sides = {"nuggets": people, "other_nuggets": other}
    plan = plan_job(kind=MATCH, judge=judge, name="", qrels_source=None, topics=topics, **sides)
    return launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)


@pytest.mark.django_db(transaction=True)
def test_a_model_matches_each_nugget_with_all_of_the_other_bank(people, other, as_olga: Client, endpoint):  # noqa: F811
    judge = make_judge(people.campaign, endpoint().base_url, structured=True)
    # Topics were ready for nothing before the second bank was chosen: with both they are selected anew.
    form = {"kind": "AutoMatch", "judge": judge.pk, "nuggets": people.pk, "replicate": 0}
    page = as_olga.get(new_job := reverse("launch_job", args=[people.campaign.slug]), form).content.decode()
    [basis] = re.findall(r'name="basis" value="([^"]*)"', page)
    page = as_olga.post(new_job, form | {"basis": basis, "other_nuggets": other.pk}).content.decode()
    assert "Launch 5 calls" in page
    job = launched(judge, people, other)
    assert job.estimate["calls"] == 5
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.units_done, job.calls) == ("done", 2, 5)
    condition = job.condition
    assert condition.name == f"Edits beside Other, matched by {judge}"
    assert f"nuggets={people}; other nuggets={other}" in condition.identity
    assert [row.pairs for row in topic_rows(condition)] == [{(0, 0), (0, 1), (2, 2)}, {(0, 0)}]
    assert {one.judge for one in BankMatching.objects.all()} == {judge.judge}
    with pytest.raises(JobError, match="nothing to do"):
        launched(judge, people, other)
    page = text(as_olga, address(condition, "t1"))
    assert "1. purring heals bones (okay) 2. purring heals (vital)" in page
    # Nobody changes what a model matched.
    assert match(as_olga, condition, "t1", "1") == 404
    # Its command, on other banks: the first against the second is another matching than the second against the first.
    told = [
        "run_matching",
        people.campaign.slug,
        f"--judge={judge}",
        "--nuggets=Other",
        "--other-nuggets=Edits",
        "--here",
    ]
    call_command(*told)
    assert people.campaign.conditions.filter(kind="matching").count() == 2
