"""Supported sentences that a bank has no nugget for: asked of a model, counted, and listed for organizers alone."""

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
from assessor.campaigns.models import Campaign, Condition, Protocol
from assessor.llm import runner
from assessor.llm.actions import JobError, launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, ModelJudge
from assessor.work.models import Exposure
from metaeval.stats.calibration import share_over_topics, wilson_interval
from nuggets.candidates.models import SentenceMatch
from nuggets.candidates.report import report
from nuggets.models import BankEdition, NuggetBank
from tests.assignment.scored import import_banks
from tests.candidates.model import candidates_condition, look_for_all
from tests.conftest import client_of
from tests.judging import change, model_of
from tests.judging import judged as sheet_of
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.support.judging_helpers import label_as_model, models_condition, run_file

FIND = job_kind_named("AutoCandidates")
BANK = {"t1": [("cats purr to heal", "vital"), ("kittens purr", "okay")], "t2": [("glass is melted", "vital")]}
# "Cats have voices." is in two answers, with other blanks; "Some have fur." is not fully supported.
RUNS = {
    "team.one": {
        "t1": [("Cats purr to heal.", ["d1"]), ("Cats have voices.", ["d2", "d1"])],
        "t2": [("Sand.", ["d5"])],
    },
    "team.two": {"t1": [("Cats  have voices.", ["d2"]), ("Some have fur.", ["d1"]), ("I cite nothing.", [])]},
}
FULL = {"team.one": {"0.0": "full", "1.0": "none", "1.1": "full"}, "team.two": {"0.0": "full", "1.0": "partial"}}


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def judged(campaign: Campaign, import_file) -> Condition:
    """Labels of support, with a bank beside them: three sentences of t1 are supported, and one of t2."""
    for tag, answers in RUNS.items():
        assert import_file(campaign, "runs", run_file(tag, answers), name=tag).state == "done"
    import_banks(campaign, import_file, BANK)
    Protocol.objects.update(citations_per_sentence=2)
    labels = models_condition(campaign, "Support")
    label_as_model(labels, FULL)
    label_as_model(labels, {"team.one": {"0.0": "full"}}, "t2")
    return labels


@pytest.fixture
def bank(judged: Condition) -> Condition:
    return judged.campaign.conditions.get(name="Edits")


def launched(judge: ModelJudge, bank: Condition, support: Condition | None) -> Job:
    topics = list(bank.campaign.topics.order_by("qid"))
    plan = plan_job(kind=FIND, judge=judge, name="", qrels_source=None, topics=topics, nuggets=bank, support=support)
    return launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)


def address(condition: Condition, qid: str = "") -> str:
    topic = [condition.campaign.topics.get(qid=qid).pk] if qid else []
    return reverse("topic_candidates" if qid else "candidates", args=[condition.campaign.slug, condition.pk, *topic])


def text(client: Client, url: str) -> str:
    page = client.get(url)
    assert page.status_code == 200
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.content.decode())).split())


def told(client: Client, condition: Condition) -> dict:  # type: ignore[type-arg]
    url = reverse("candidates_file", args=[condition.campaign.slug, condition.pk, "json"])
    found: dict = json.loads(b"".join(client.get(url)))  # type: ignore[type-arg, call-overload]
    return found


@pytest.mark.django_db(transaction=True)
def test_a_model_is_asked_once_of_each_supported_sentence(judged, bank, as_olga: Client, endpoint):  # noqa: F811
    judge = make_judge(bank.campaign, endpoint().base_url, structured=True)
    form = {"kind": "AutoCandidates", "judge": judge.pk, "nuggets": bank.pk, "support": judged.pk, "replicate": 0}
    page = as_olga.post(reverse("launch_job", args=[bank.campaign.slug]), form).content.decode()
    # Three texts: one of them is in two answers, with other blanks.
    assert "Launch 3 calls" in page
    job = launched(judge, bank, judged)
    assert job.estimate["calls"] == 3
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.units_done, job.calls) == ("done", 3, 3)
    condition = job.condition
    assert condition.name == f"Edits, candidates from Support by {judge}"
    assert "nuggets=Edits; supported by=Support; " in condition.identity
    found = SentenceMatch.objects.filter(condition=condition).order_by("answer__run__tag", "answer__topic__qid")
    columns = ("answer__run__tag", "answer__topic__qid", "sentence", "nugget__text")
    assert sorted(found.values_list(*columns), key=str) == [
        ("team.one", "t1", 0, "cats purr to heal"),
        ("team.one", "t1", 1, None),
        ("team.one", "t2", 0, None),
        ("team.two", "t1", 0, None),
    ]
    with pytest.raises(JobError, match="nothing to do"):
        launched(judge, bank, judged)
    # Its command, with the same judge: nothing is left, and it says so.
    options = [f"--judge={judge}", "--nuggets=Edits", "--support=Support", "--estimate"]
    call_command("run_candidates", bank.campaign.slug, *options)


@pytest.fixture
def looked(judged: Condition, bank: Condition) -> Condition:
    """What a model said: the first sentence states a nugget, and no other does."""
    condition = candidates_condition(bank, judged, "Candidates")
    edition = BankEdition.objects.get(bank__condition=bank, bank__topic__qid="t1")
    answer = sheet_of(judged, "team.one", "t1").answer
    nugget = edition.bank.nuggets.get(text="cats purr to heal")
    SentenceMatch.objects.create(condition=condition, edition=edition, answer=answer, sentence=0, nugget=nugget)
    return look_for_all(bank.campaign, "Edits", "Support", "Candidates")


def test_shares_and_candidates_are_told_to_organizers(looked: Condition, as_olga: Client):
    found = told(as_olga, looked)
    # Two topics are too few to be clusters of an interval.
    assert found["uncovered"] == {
        **{"sentences": 4, "uncovered": 3, "share": 0.75, "low": None, "high": None},
        "why": "fewer than 10 topics",
    }
    assert found["not_asked"] == 0
    # Wilson by hand, 2 of 3: (p + z^2/2n -+ z sqrt(p(1 - p)/n + z^2/4n^2)) / (1 + z^2/n).
    t1 = found["by_topic"]["t1"]
    assert (t1["supported"], t1["sentences"], t1["uncovered"]) == (3, 3, 2)
    assert (t1["low"], t1["high"]) == pytest.approx((0.207660, 0.938508), abs=1e-6)
    page = text(as_olga, address(looked))
    assert (
        "Of 4 supported sentences of answers, 3 ( 0.75 ) state no nugget of Edits : the bank may lack what they say."
        in page
    )
    page = text(as_olga, address(looked, "t1"))
    assert "Cats have voices. 2 team.one , sentence 2; team.two , sentence 1 d2, d1" in page
    assert "Some have fur" not in page
    assert "Cats purr to heal" not in page
    url = reverse("candidates_file", args=[looked.campaign.slug, looked.pk, "csv"])
    rows = list(csv.DictReader(io.StringIO(b"".join(as_olga.get(url)).decode())))
    assert [(row["topic"], row["candidate"], row["answers"], row["runs"]) for row in rows] == [
        ("t1", "Cats have voices.", "2", "team.one team.two"),
        ("t2", "Sand.", "1", "team.one"),
    ]
    # And below the bank itself, on its organizer's page alone.
    [bank] = NuggetBank.objects.filter(condition=looked.nuggets, topic__qid="t1")
    page = text(as_olga, reverse("nugget_editor", args=[bank.pk]))
    assert "Of 3 supported sentences of answers, 2 ( 0.67 , interval 0.21\u20130.94) state no nugget" in page


def test_what_counts_follows_banks_and_labels(looked: Condition, judged: Condition, bank: Condition, as_olga: Client):
    # A citation that is called full no longer leaves its sentence unsupported, whatever the model said of it.
    change(sheet_of(judged, "team.two", "t1"), {"0.0": {"label": "partial"}})
    assert [(row.supported, row.uncovered) for row in report(looked).rows] == [(2, 1), (1, 1)]
    # One that the model was not asked about yet is no candidate.
    change(sheet_of(judged, "team.two", "t1"), {"1.0": {"label": "full"}})
    assert [(row.supported, row.asked, row.uncovered) for row in report(looked).rows] == [(3, 2, 1), (1, 1, 1)]
    assert "1 supported sentence was not looked for in the banks as they are now" in text(as_olga, address(looked))
    # A bank that was finished again knows of no answer about the old one.
    [of_t2] = NuggetBank.objects.filter(condition=bank, topic__qid="t2")
    nuggets = BankEdition.objects.get(bank=of_t2).nuggets
    NuggetBank.objects.filter(pk=of_t2.pk).update(edition=2)
    BankEdition.objects.create(bank=of_t2, edition=2, version=2, nuggets=nuggets)
    assert [(row.supported, row.asked) for row in report(looked).rows] == [(3, 2), (1, 0)]
    look_for_all(bank.campaign, "Edits", "Support", "Candidates")
    assert report(looked).open == 0


def test_nobody_but_organizers_sees_candidates(looked: Condition, anna: Person, olga: Person):
    file = reverse("candidates_file", args=[looked.campaign.slug, looked.pk, "csv"])
    for url in (address(looked), address(looked, "t1"), file):
        assert client_of(anna).get(url).status_code == 404
    other = candidates_condition(looked.nuggets, looked.support, "Others")
    assert client_of(olga).get(address(other, "t2")).status_code == 200
    assert client_of(olga).get(address(looked).replace(str(looked.pk), str(looked.nuggets_id))).status_code == 404


def test_who_takes_the_file_writes_and_labels_nothing_there_blind(looked: Condition, olga: Person, as_olga: Client):
    as_olga.get(reverse("candidates_file", args=[looked.campaign.slug, looked.pk, "csv"]))
    seen = Exposure.objects.filter(person=olga, topic__qid="t1").order_by("kind").values_list("kind", flat=True)
    assert {"nuggets", "assignment", "support"} <= set(seen)


def test_support_has_to_be_labels_of_support(bank: Condition, judged: Condition):
    judge = make_judge(bank.campaign, "http://127.0.0.1:9/v1", structured=True)
    for wrong in (None, bank):
        with pytest.raises(JobError, match="choose a condition of the kind support"):
            launched(judge, bank, wrong)


def test_control_runs_and_dropped_answers_are_no_candidates(judged: Condition, bank: Condition, as_olga: Client):
    condition = candidates_condition(bank, judged, "Candidates")
    assert report(condition).supported == 4
    model_of(judged).objects.filter(condition=judged, answer__run__tag="team.two").update(out_of_scope=True)
    assert report(condition).supported == 3
    judged.campaign.runs.filter(tag="team.one").update(task="control")
    assert report(condition).supported == 0


def test_intervals_over_topics_take_them_as_clusters():
    # All of a topic alike: ten independent topics, and not 100 sentences.
    found = share_over_topics([10] * 5 + [0] * 5, [10] * 10)
    assert (found.value, found.n) == (0.5, 100)
    # (p(1 - p) / var(p)) (t of 99 / t of 9)^2, var(p) = 10/9 * 10 * 25 / 100^2.
    assert found.effective == pytest.approx(0.25 / (10 / 9 * 10 * 25 / 100**2) * (1.984217 / 2.262157) ** 2)
    # None at all: as many things as there are topics.
    assert share_over_topics([0] * 10, [10] * 10)[:3] == pytest.approx((0, *wilson_interval(0, 10)))
