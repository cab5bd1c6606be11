"""The organizer's way to a job: judges by provider, topics by what they lack, failures by reason, what came back."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Grade
from assessor.llm import queries
from assessor.llm.models import Call, Job, ModelJudge, Unit
from assessor.scores.leaderboards import name_of
from tests.assignment.conftest import answered, nugget_ids  # noqa: F401  # fixtures
from tests.conftest import client_of
from tests.golden.player import forms_of
from tests.llm.grading import make_job, make_judge
from tests.llm.records import leave_traces

pytestmark = pytest.mark.django_db
BASE = "/campaigns/study"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def client(olga: Person, campaign: Campaign) -> Client:
    return client_of(olga)


def page_of(client: Client, path: str, **options: object) -> str:
    return unescape(client.get(f"{BASE}/{path}", **options).content.decode())  # type: ignore[arg-type]


# Judges


def test_a_provider_fills_in_address_key_and_limits(client: Client):
    page = page_of(client, "judges/new/?provider=openai")
    assert 'name="base_url" value="https://api.openai.com/v1"' in page
    assert 'name="key_variable" value="OPENAI_API_KEY"' in page
    assert 'name="requests_per_minute" value="500"' in page
    assert '<option value="max_completion_tokens" selected>' in page
    page = page_of(client, "judges/new/?provider=vllm")
    assert 'placeholder="http://HOST:8000/v1"' in page
    assert "api.openai.com" not in page
    assert "<details>" in page  # Advanced is closed
    assert "<details open>" in client.post(f"{BASE}/judges/new/", {"top_p": "2"}).content.decode()


def test_only_whether_a_key_is_there_is_told(client: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FOUND_API_KEY", "sk-secret")
    monkeypatch.setenv("ASSAY_OTHER", "sk-other")
    found = page_of(client, "judges/new/?key_variable=FOUND_API_KEY", headers=HTMX)
    assert "The web server has FOUND_API_KEY." in found
    assert "sk-secret" not in found
    for name in ("LOST_API_KEY", "ASSAY_OTHER"):
        assert f"The web server has no {name}." in page_of(client, f"judges/new/?key_variable={name}", headers=HTMX)


def test_a_name_that_is_taken_is_told_at_the_field(client: Client, campaign: Campaign):
    make_judge(campaign, name="gpt")
    form = {
        "name": "gpt",
        "model": "m",
        "base_url": "https://api.example.org/v1",
        "max_tokens": "9",
        "concurrency": "1",
    }
    form |= {"limit_name": "max_tokens", "timeout": "9", "price_in": "0", "price_out": "0", "prompt_set": "assay-1"}
    page = client.post(f"{BASE}/judges/new/", form).content.decode()
    assert 'id="id_name_error">The campaign has a judge called gpt already. Choose another name.' in page


def test_the_demo_offers_its_endpoint_as_a_judge_by_one_click(client: Client, campaign: Campaign, settings):
    settings.REHEARSAL_URL = "http://127.0.0.1:8124/v1"
    assert ":8124" not in page_of(client, "judges/")
    settings.DEMO = True
    page = page_of(client, "judges/")
    assert "This demo has a rehearsal endpoint at http://127.0.0.1:8124/v1" in page
    [form] = [form for form in forms_of(page) if form.action.endswith("?provider=rehearsal")]
    client.post(form.action, {name: values[0] for name, values in form.fields.items()})
    judge = campaign.model_judges.get()
    assert (judge.base_url, judge.judge.parameters["model"], judge.price_in) == (
        "http://127.0.0.1:8124/v1",
        "rehearsal",
        Decimal("0.15"),
    )
    page = page_of(client, "judges/")
    assert "http://127.0.0.1:8124/v1" in page
    assert "Add it as a judge" not in page


def test_the_list_of_judges_tells_what_each_has_done_and_cost(client: Client, campaign: Campaign):
    judge = make_judge(campaign, key_variable="LOST_API_KEY")
    job = make_job(judge)
    Job.objects.filter(pk=job.pk).update(calls=1_234, cost=Decimal("5.8"), started_at=timezone.now())
    page = page_of(client, "judges/")
    assert "1,234" in page
    assert "5.80 USD" in page
    assert "key missing" in page


# New job


def test_a_kind_asks_only_what_it_needs_and_sole_records_are_chosen(client: Client, campaign: Campaign):
    judge, source = make_judge(campaign), campaign.qrels_sources.get()
    page = page_of(client, "jobs/new/?kind=AutoNuggets")
    assert f'<option value="{judge.pk}" selected>' in page
    assert f'<option value="{source.pk}" selected>' in page
    assert 'name="nuggets"' not in page
    page = page_of(client, "jobs/new/?kind=UMBRELA")
    assert 'name="qrels_source"' not in page
    make_judge(campaign, name="second")
    assert f'<option value="{judge.pk}" selected>' not in page_of(client, "jobs/new/?kind=UMBRELA")


def test_a_new_job_begins_with_what_the_campaign_lacks(client: Client, campaign: Campaign):
    def first() -> str:
        found = re.search(r'name="kind" value="([^"]*)"', page_of(client, "jobs/new/"))
        return found[1] if found else ""

    make_judge(campaign)
    assert first() == "AutoNuggets"
    Grade.objects.all().delete()
    campaign.qrels_sources.all().delete()
    assert first() == "UMBRELA"


def asked(campaign: Campaign, **more: object) -> dict[str, object]:
    source = campaign.qrels_sources.get(name="NIST")
    basis = f"AutoNuggets None None None None {source.pk} None None"
    form = {"kind": "AutoNuggets", "judge": campaign.model_judges.get().pk, "qrels_source": source.pk, "replicate": "0"}
    return form | {"basis": basis} | more


def test_the_picker_says_what_topics_lack_and_leaves_them_out(client: Client, campaign: Campaign):
    """Of t1 a relevant passage has no text."""
    make_judge(campaign)
    page = page_of(client, "jobs/new/?kind=AutoNuggets")
    [t1, t2] = page.split('name="topic"')[1:]
    assert " disabled>" in t1.partition("</td>")[0]
    assert "passages without text" in t1
    assert " checked>" in t2.partition("</td>")[0]
    assert "ready" in t2
    page = unescape(client.post(f"{BASE}/jobs/new/", asked(campaign, topic="t2")).content.decode())
    assert "1 topic left out" in page
    assert "Passages without text." in page
    client.post(f"{BASE}/jobs/new/", asked(campaign, topic="t2", launch="1"))
    assert [unit.topic.qid for unit in Unit.objects.all()] == ["t2"]


def test_what_was_selected_counts_unless_it_was_for_something_else(client: Client, campaign: Campaign):
    make_judge(campaign)
    none = client.post(f"{BASE}/jobs/new/", asked(campaign, launch="1"))
    assert "Select at least one topic." in none.content.decode()
    assert not Job.objects.exists()
    for more in ({"basis": "other"}, {"select": "ready"}, {"select": "new"}, {"topics": "t2"}):
        page = client.post(f"{BASE}/jobs/new/", asked(campaign, **more)).content.decode()
        assert "Launch 4 calls" in page, more
    for more in ({"select": "none", "topic": "t2"}, {}):
        assert (
            "Select at least one topic." in client.post(f"{BASE}/jobs/new/", asked(campaign, **more)).content.decode()
        )


def test_the_estimate_changes_with_the_form(client: Client, campaign: Campaign):
    make_judge(campaign, price_in=Decimal(1_000), requests_per_minute=2)
    page = client.post(f"{BASE}/jobs/new/", asked(campaign, topic="t2"), headers=HTMX).content.decode()
    assert "<html" not in page
    assert "<dt>Calls</dt><dd>4</dd>" in page
    assert "<dt>Time</dt><dd>2 min</dd>" in page
    assert 'name="most_cost"' in page
    page = client.post(f"{BASE}/jobs/new/", asked(campaign, topic="t2", filter="nothing like it")).content.decode()
    assert page.count("<tr hidden") == 2
    assert "Launch 4 calls" in page  # what the filter hides stays selected


def test_a_job_says_on_how_many_topics_its_work_is_still_to_be_prepared(client: Client, campaign: Campaign):
    job = make_job(make_judge(campaign))
    Job.objects.update(units_total=0, topics_left=["t1", "t2"])
    page = page_of(client, f"jobs/{job.pk}/")
    assert "2 topics still to be prepared" in page
    assert "0 of 0 tried · 0 %" in page


def test_without_prices_and_calls_there_is_no_cost_and_no_time(client: Client, campaign: Campaign):
    make_judge(campaign)
    page = client.post(f"{BASE}/jobs/new/", asked(campaign, topic="t2")).content.decode()
    assert "not known: the judge has no prices" in page
    assert "not known until this judge has answered once" in page


def test_an_empty_pool_says_how_to_fill_it_and_nothing_can_be_launched(client: Client, campaign: Campaign):
    make_judge(campaign)
    page = page_of(client, "jobs/new/?kind=UMBRELA")
    assert "Nothing to launch" in page
    assert "The pool is empty. Upload retrieval runs" in page
    assert 'name="launch"' not in page
    assert 'hx-trigger="load"' not in page


# A job


def test_failures_are_grouped_by_reason_and_tried_again_by_it(client: Client, campaign: Campaign):
    job = make_job(make_judge(campaign))
    leave_traces(job)
    first, second = job.units.order_by("pk")
    Unit.objects.create(job=job, topic=first.topic, item="x", state="failed", error="The text of d7 is not loaded.")
    Unit.objects.filter(pk=first.pk).update(error="The text of d1 is not loaded.")
    Unit.objects.filter(pk=second.pk).update(error="The reply was empty.")
    Job.objects.filter(pk=job.pk).update(units_failed=3, units_total=3)
    job.refresh_from_db()
    found = [(reason.units, reason.error) for reason in queries.reasons(job)]
    assert found == [(2, "The text of d1 is not loaded."), (1, "The reply was empty.")]
    page = page_of(client, f"jobs/{job.pk}/")
    assert "3 failed" in page
    assert "Retry all 3" in page
    page = page_of(client, f"jobs/{job.pk}/?reason=The text of d is not loaded.")
    assert "2 of this reason" in page
    assert page.count('<td class="any"><bdi>The text of d') == 2
    assert '<td class="any"><bdi>The reply was empty.' not in page
    client.post(f"{BASE}/jobs/{job.pk}/retry/", {"reason": "The text of d is not loaded."})
    assert sorted(Unit.objects.filter(job=job).values_list("state", flat=True)) == ["failed", "waiting", "waiting"]
    job.refresh_from_db()
    assert job.units_failed == 1


def test_progress_is_told_by_state_and_money_beside_its_budget(client: Client, campaign: Campaign):
    job = make_job(make_judge(campaign))
    begun = timezone.now() - timedelta(minutes=5)
    Unit.objects.filter(pk=job.units.earliest("pk").pk).update(state="claimed")
    more = {"units_total": 10, "units_done": 4, "units_failed": 1, "started_at": begun, "calls": 5}
    Job.objects.filter(pk=job.pk).update(state="running", most_cost=15, cost=Decimal("5.81"), **more)
    for number in range(5):
        Call.objects.create(judge=job.judge, job=job, at=timezone.now(), request=f"{number:064}", outcome="lost")
    page = page_of(client, f"jobs/{job.pk}/")
    assert 'aria-label="4 done, 1 failed, 1 in flight, 4 waiting"' in page
    assert '<rect x="40.0%" width="10.0%" height="12" class="f-bad" />' in page
    assert "5.81 <small>USD</small>" in page
    assert "expected, stops at 15.00" in page
    assert '<progress class="model" max="15.000000" value="5.810000"' in page
    assert "<dt>Calls a minute</dt><dd>5</dd>" in page
    assert "1 min" in page
    assert "<polyline" in page


def test_the_latest_replies_come_with_the_prompt(client: Client, campaign: Campaign):
    job = make_job(make_judge(campaign))
    leave_traces(job)
    response = '{"choices": [{"message": {"content": "##final score: 2"}, "finish_reason": "stop"}], "model": "m"}'
    unit = job.units.earliest("pk")
    call = Call.objects.create(
        judge=job.judge,
        job=job,
        unit=unit,
        at=timezone.now(),
        request="f" * 64,
        outcome="good",
        question="relevance",
        response=response,
        milliseconds=812,
    )
    Unit.objects.filter(pk=unit.pk).update(item="d1")
    page = page_of(client, f"jobs/{job.pk}/")
    assert "##final score: 2" in page
    assert "812 ms" in page
    assert "The passage d1." in page
    assert "Passage: Cats purr when content." in page
    lost = Call.objects.filter(job=job, outcome="lost").earliest("pk")
    assert "Passage: Cats purr" not in page_of(client, f"jobs/{job.pk}/?call={lost.pk}")
    for odd in ("", "x", "9" * 30, "²"):
        assert "The passage d1." in page_of(client, f"jobs/{job.pk}/?call={odd}")
    assert queries.call_of(make_job(make_judge(campaign, name="k")), str(call.pk)) is None


def test_a_model_that_is_named_otherwise_under_one_condition_is_told(client: Client, campaign: Campaign):
    """Also where the other name is another job's, and only where a reply named it."""
    judge = make_judge(campaign)
    first = make_job(judge)
    Job.objects.filter(pk=first.pk).update(state=Job.State.CANCELLED)
    second, condition = make_job(judge), first.condition
    assert second.condition == condition
    calls = [(first, "m-2026-08-06", 10), (first, "", 11), (second, "m-2026-08-06", 12)]

    def store(job: Job, model: str, day: int) -> None:
        at = datetime(2026, 10, day, 9, tzinfo=UTC)
        Call.objects.create(judge=judge, job=job, at=at, request=f"{day:064}", model=model, outcome="good")

    for call in calls:
        store(*call)
    assert "Several models" not in page_of(client, f"jobs/{second.pk}/")
    assert "several models" not in name_of(condition)
    store(second, "m-2026-11-20", 13)
    told = " ".join(re.sub(r"<[^>]+>", "", page_of(client, f"jobs/{first.pk}/")).split())
    assert f"Several models answered under {condition}" in told
    assert "m-2026-08-06 (2 calls, 2026-10-10 09:00 UTC to 2026-10-12 09:00 UTC)" in told
    assert "m-2026-11-20 (1 call, 2026-10-13 09:00 UTC)" in told
    assert name_of(condition).endswith("several models)")


def test_what_ends_offers_what_comes_next(client: Client, campaign: Campaign):
    judge = make_judge(campaign)
    job = make_job(judge)
    assert "Finished" not in page_of(client, f"jobs/{job.pk}/")
    Job.objects.filter(pk=job.pk).update(state="done", ended_at=timezone.now(), units_done=2)
    page = page_of(client, f"jobs/{job.pk}/")
    assert "Finished: 2 of 2 done" in page
    assert f'href="{BASE}/frozen/{job.condition_id}/">Freeze' in page
    client.post(f"{BASE}/jobs/new/", asked(campaign, topic="t2", launch="1"))
    made = Job.objects.get(kind="AutoNuggets")
    Job.objects.filter(pk=made.pk).update(state="done", ended_at=timezone.now())
    page = page_of(client, f"jobs/{made.pk}/")
    assert f'{BASE}/jobs/new/?kind=AutoAssign&nuggets={made.condition_id}">Assign nuggets with these' in page
    made.condition.method = "AutoNuggets+Edits"
    made.condition.save()
    page = page_of(client, f"jobs/{made.pk}/")
    assert f'href="{BASE}/plan/">Give the drafts to people' in page
    assert "Assign nuggets with these" not in page, "people have not edited them"
    assert ModelJudge.objects.count() == 1


def test_a_models_labels_are_compared_with_peoples_of_the_same(client: Client, answered: Campaign, import_file):  # noqa: F811
    nuggets = answered.conditions.create(kind="nuggets", name="N", method="imported", protocol=answered.protocol)
    same = {"kind": "assignment", "nuggets": nuggets, "protocol": answered.protocol}
    people = answered.conditions.create(**same, name="P", method="ManualAssign")
    judge = make_judge(answered)
    auto = answered.conditions.create(**same, name="A", method="AutoAssign", judge=judge.judge)
    job = Job.objects.create(campaign=answered, kind="AutoAssign", condition=auto, judge=judge, state="done")
    sides = f"first=Condition-{people.pk}&second=Condition-{auto.pk}"
    assert f'href="{BASE}/comparisons/?{sides}">Compare with people' in page_of(client, f"jobs/{job.pk}/")
