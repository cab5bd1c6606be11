"""The organizer's pages and commands of judges and jobs."""

import io
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign, create_condition
from assessor.campaigns.models import Campaign, Condition, Event
from assessor.llm.models import Call, Job, ModelJudge, Unit
from assessor.llm.prompt_sets import prompt_set
from nuggets.auto_nuggets import AutoNuggets
from nuggets.models import Drafting, NuggetBank
from tests.conftest import client_of
from tests.llm.grading import make_job, make_judge
from tests.llm.records import leave_traces

pytestmark = pytest.mark.django_db
BASE = "/campaigns/study"
JUDGE = {
    "name": "gpt at 0",
    "model": "gpt",
    "temperature": "0",
    "max_tokens": "500",
    "limit_name": "max_completion_tokens",
    "structured": "on",
    "base_url": "https://api.example.org/v1",
    "key_variable": "EXAMPLE_API_KEY",
    "prompt_set": "assay-1",
    "concurrency": "16",
    "requests_per_minute": "600",
    "tokens_per_minute": "",
    "timeout": "60",
    "price_in": "0.15",
    "price_out": "0.6",
}


@pytest.fixture
def client(olga: Person, campaign: Campaign) -> Client:
    return client_of(olga)


def test_a_judge_is_made_with_what_never_changes_and_what_may(client: Client):
    response = client.post(f"{BASE}/judges/new/", JUDGE)
    judge = ModelJudge.objects.get()
    assert response["Location"] == f"{BASE}/judges/{judge.pk}/"
    assert judge.judge.parameters == {
        "model": "gpt",
        "temperature": 0.0,
        "max_tokens": 500,
        "limit_name": "max_completion_tokens",
        "structured": True,
    }
    assert (judge.concurrency, judge.requests_per_minute, judge.tokens_per_minute) == (16, 600, None)
    assert judge.cost(1_000_000, 500_000) == Decimal("0.45")
    changed = JUDGE | {"base_url": "https://other.example.org/v1", "temperature": "1", "price_in": "0.3"}
    client.post(f"{BASE}/judges/{judge.pk}/", changed)
    judge.refresh_from_db()
    assert (judge.base_url, judge.price_in) == ("https://other.example.org/v1", Decimal("0.3"))
    assert judge.judge.parameters["temperature"] == 0.0  # decided once
    told = Event.objects.get(verb="judge changed").details
    assert told["before"] == {"base_url": "https://api.example.org/v1", "price_in": "0.150000"}
    assert told["after"]["base_url"] == "https://other.example.org/v1"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"base_url": "ftp://host/v1"}, "Write the address of a chat-completions API"),
        ({"base_url": "https://user:pw@host/v1"}, "No names or passwords in the address"),
        ({"key_variable": "ASSAY_SECRET_KEY"}, "ends in _API_KEY"),
        ({"key_variable": "sk-1234"}, "ends in _API_KEY"),
        ({"concurrency": "0"}, "greater than or equal to 1"),
        ({"requests_per_minute": "0"}, "greater than or equal to 1"),
        ({"price_in": "-1"}, "greater than or equal to 0"),
        ({"temperature": "3"}, "less than or equal to 2"),
        ({"prompt_set": "nothing"}, "not one of the available choices"),
        ({"name": ""}, "required"),
    ],
)
def test_an_odd_judge_is_refused_with_the_reason(client: Client, changes: dict[str, str], reason: str):
    page = client.post(f"{BASE}/judges/new/", JUDGE | changes).content.decode()
    assert reason in page
    assert not ModelJudge.objects.exists()


def test_a_name_is_given_once(client: Client, campaign: Campaign):
    make_judge(campaign, name="gpt at 0")
    page = client.post(f"{BASE}/judges/new/", JUDGE).content.decode()
    assert "The campaign has a judge called gpt at 0 already. Choose another name." in page
    assert ModelJudge.objects.count() == 1


def test_a_name_that_another_campaign_has_can_be_given(client: Client, campaign: Campaign, olga: Person):
    other = create_campaign(name="Other", slug="other", acting_user=olga)
    theirs = make_judge(other, name="gpt at 0")
    response = client.post(f"{BASE}/judges/new/", JUDGE)
    ours = campaign.model_judges.get()
    assert (ours.judge.name, response["Location"]) == ("gpt at 0", f"{BASE}/judges/{ours.pk}/")
    assert ours.judge_id != theirs.judge_id
    # Whoever names it means the campaign's own: the other one costs nothing.
    out = io.StringIO()
    call_command("run_drafts", "study", judge="gpt at 0", qrels="NIST", topics=["t2"], estimate=True, stdout=out)
    assert "calls" in out.getvalue()
    assert "cost 0.0000." not in out.getvalue()
    with pytest.raises(
        CommandError, match=r"^The campaign has a judge called gpt at 0 already\. Choose another name\.$"
    ):
        call_command("create_judge", "other", "gpt at 0", base_url="https://api.example.org/v1", model="gpt")


def test_after_its_prompts_changed_a_launch_asks_for_another_name(client: Client, campaign: Campaign):
    """As when a new version of Assay words its own prompts otherwise: what was made with the old ones stays apart."""
    judge = make_judge(campaign)
    source = campaign.qrels_sources.get()
    wanted = {"kind": "AutoNuggets", "judge": judge.pk, "qrels_source": source.pk, "topics": "t2", "replicate": "0"}
    old = Condition(
        campaign=campaign,
        name="AutoNuggets by j on NIST",
        kind="nuggets",
        method="AutoNuggets",
        qrels_source=source,
        judge=judge.judge,
        prompts={"creation": "0" * 64, "importance": "1" * 64},
    )
    create_condition(old, acting_user=None)
    page = client.post(f"{BASE}/jobs/new/", wanted | {"launch": ""}).content.decode()
    assert "The campaign has another condition called AutoNuggets by j on NIST: choose another name." in page
    assert not Job.objects.exists()
    client.post(f"{BASE}/jobs/new/", wanted | {"launch": "", "name": "AutoNuggets, new prompts"})
    assert Job.objects.get().condition.prompts == prompt_set("assay-1").hashes(AutoNuggets.prompts)


def test_the_estimate_comes_before_anything_is_made(client: Client, campaign: Campaign):
    judge = make_judge(campaign, price_in=Decimal(1), price_out=Decimal(2))
    source = campaign.qrels_sources.get()
    asked = {"kind": "AutoNuggets", "judge": judge.pk, "qrels_source": source.pk, "topics": "t2", "replicate": "0"}
    page = client.post(f"{BASE}/jobs/new/", asked).content.decode()
    assert "Launch 4 calls" in page
    assert "Creates the condition <bdi>AutoNuggets by j on NIST</bdi>" in page
    assert not Job.objects.exists()
    assert not campaign.conditions.exists()
    assert not Call.objects.exists()
    response = client.post(f"{BASE}/jobs/new/", asked | {"launch": "1", "most_calls": "7"})
    job = Job.objects.get()
    assert response["Location"] == f"{BASE}/jobs/{job.pk}/"
    assert (job.kind, job.units_total, job.most_calls, job.created_by.username) == ("AutoNuggets", 1, 7, "olga")
    assert job.estimate["calls"] == 4  # one window, three batches of importance at most
    assert job.units.get().topic.qid == "t2"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"qrels_source": ""}, "AutoNuggets needs relevance grades"),
        ({"topics": "t2 nowhere"}, "The campaign has no topic nowhere."),
        ({"judge": "999"}, "not one of the available choices"),
        ({"most_cost": "0"}, "greater than or equal to"),
        ({"most_calls": "0"}, "greater than or equal to 1"),
    ],
)
def test_an_odd_job_is_refused_with_the_reason(client: Client, campaign: Campaign, changes: dict, reason: str):
    judge, source = make_judge(campaign), campaign.qrels_sources.get()
    asked = {"kind": "AutoNuggets", "judge": judge.pk, "qrels_source": source.pk, "replicate": "0", "launch": "1"}
    assert reason in client.post(f"{BASE}/jobs/new/", asked | changes).content.decode()
    assert not Job.objects.exists()


def test_drafts_are_made_from_peoples_grades_alone(client: Client, campaign: Campaign, import_file):
    import_file(campaign, "qrels", "t1 0 d1 3\n", source="A model", by="model")
    judge, source = make_judge(campaign), campaign.qrels_sources.get(name="A model")
    asked = {"kind": "Drafts", "judge": judge.pk, "qrels_source": source.pk, "replicate": "0", "launch": "1"}
    page = client.post(f"{BASE}/jobs/new/", asked).content.decode()
    assert "Select a valid choice" in page
    assert "A model, 0 to 3" not in page
    with pytest.raises(CommandError, match=r"^Drafts takes people's grades only; those of A model are a model's\.$"):
        call_command("run_drafts", "study", judge="j", qrels="A model", estimate=True)


def test_a_job_shows_its_progress_and_what_failed(client: Client, campaign: Campaign):
    judge = make_judge(campaign)
    job = make_job(judge)
    leave_traces(job)
    Unit.objects.filter(job=job).update(error="<script>alert(1)</script>")
    page = client.get(f"{BASE}/jobs/{job.pk}/").content.decode()
    assert 'hx-trigger="every 2s"' in page
    assert '<td class="num">2</td>' in page
    assert page.count("<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>") == 3  # the reason, and both units
    live = {"headers": {"HX-Request": "true"}}
    fragment = client.get(f"{BASE}/jobs/{job.pk}/?state=running", **live).content.decode()
    assert fragment.lstrip().startswith('<div class="gap" id="progress"')
    assert "<html" not in fragment
    assert "HX-Refresh" not in client.get(f"{BASE}/jobs/{job.pk}/?state=running", **live)
    client.post(f"{BASE}/jobs/{job.pk}/pause/")
    assert client.get(f"{BASE}/jobs/{job.pk}/?state=running", **live)["HX-Refresh"] == "true"
    assert 'hx-trigger="every 2s"' not in client.get(f"{BASE}/jobs/{job.pk}/").content.decode()
    assert client.get(f"{BASE}/jobs/{job.pk}/failures/")["Location"] == f"{BASE}/jobs/{job.pk}/#failed"
    client.post(f"{BASE}/jobs/{job.pk}/budget/", {"most_calls": "0", "most_cost": ""})
    job.refresh_from_db()
    assert (job.state, job.most_calls) == (Job.State.PAUSED, None)


@pytest.mark.django_db(transaction=True)
def test_commands_make_judges_and_run_jobs_without_a_worker(campaign: Campaign, endpoint, monkeypatch):
    url = endpoint().base_url
    call_command("create_judge", "study", "j", base_url=url, model="m", structured=True, stdout=io.StringIO())
    out, bar = io.StringIO(), io.StringIO()
    call_command("run_drafts", "study", judge="j", qrels="NIST", topics=["t2"], estimate=True, stdout=out)
    assert out.getvalue().startswith("About 1 calls, ")
    assert not Job.objects.exists()
    call_command("run_drafts", "study", judge="j", qrels="NIST", topics=["t2"], here=True, stdout=out, stderr=bar)
    assert Drafting.objects.get().topic.qid == "t2"
    assert "1/1, 1 calls" in bar.getvalue()
    with pytest.raises(CommandError, match="There is nothing to do"):
        call_command("run_drafts", "study", judge="j", qrels="NIST", topics=["t2"], here=True, stdout=out)
    # t1 has a relevant segment whose text is not loaded: it fails visibly, the other one is done.
    call_command("run_auto_nuggets", "study", judge="j", qrels="NIST", here=True, stdout=out, stderr=bar)
    assert "1 failed: Relevant segments without a loaded text: 1, the first of them d4." in out.getvalue()
    assert NuggetBank.objects.get(task=None).topic.qid == "t2"
    job = Job.objects.latest("pk")
    call_command("run_job", job.pk, retry_failed=True, stdout=out, stderr=bar)
    job.refresh_from_db()
    assert (job.state, job.units_done, job.units_failed) == (Job.State.DONE, 1, 1)
    with pytest.raises(CommandError, match="The campaign has no judge called nobody"):
        call_command("run_umbrela", "study", judge="nobody", stdout=out)
