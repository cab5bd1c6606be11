"""Jobs whose requests go in batches, over real HTTP to the rehearsal endpoint, with what goes wrong with batches."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from assessor.campaigns.models import Campaign, Event
from assessor.llm import actions, batches, runner
from assessor.llm.models import Batch, BatchRequest, Call, Job, Runner, Unit
from tests.conftest import client_of
from tests.llm.grading import graded, make_job, make_judge

pytestmark = pytest.mark.django_db(transaction=True)
TOPICS = 30


@pytest.fixture
def study(empty_campaign: Campaign, import_file) -> Campaign:
    """Thirty topics."""
    about = ("cats purr", "cats and trains", "trains and boats")
    topics = "".join(f"t{number:02}\t{about[number % 3]}{' !' * number}\n" for number in range(TOPICS))
    assert import_file(empty_campaign, "topics", topics).state == "done"
    return empty_campaign


def batched(judge, mode: Job.Mode = Job.Mode.BATCH, **options) -> Job:
    return make_job(judge, mode=mode, **options)


def look(job: Job, times: int = 1) -> Job:
    """Do what a worker does each minute."""
    for _ in range(times):
        runner.run_job(job.pk)
        while batches.work_on(job.pk):
            runner.run_job(job.pk)
        Batch.objects.update(look_at=timezone.now())
    job.refresh_from_db()
    return job


def ended(job: Job, looks: int = 40) -> Job:
    """Look at a job until it is neither waiting nor running, or everything was looked at often enough."""
    for _ in range(looks):
        if look(job).state not in Job.ACTIVE and not Batch.objects.filter(ended_at=None).exists():
            break
    return job


def asked_at(server) -> Counter[str]:
    """Return how often each request came to an end at the endpoint."""
    return Counter(line["request"] for line in (*server.ended(), *server.batched()) if line.get("request"))


def statuses(job: Job) -> list[str]:
    return list(job.batches.order_by("pk").values_list("status", flat=True))


def whole(job: Job, server) -> None:
    """Check that a job is done, that each request was answered once, and that nothing is left behind."""
    assert (job.state, job.units_done, job.units_failed) == (Job.State.DONE, TOPICS, 0)
    assert len(graded(job.campaign)) == TOPICS
    assert set(asked_at(server).values()) == {1}
    assert Call.objects.filter(job=job, outcome="good").count() == TOPICS
    assert not BatchRequest.objects.exists()
    assert not Runner.objects.exists()
    assert not job.units.exclude(state=Unit.State.DONE).exists()


def test_a_job_in_a_batch_does_what_it_does_live_at_half_the_price(study: Campaign, endpoint):
    server = endpoint()
    prices = {"price_in": Decimal(1000), "price_out": Decimal(2000)}
    live = make_job(make_judge(study, server.base_url, name="live", **prices), replicate=1)
    runner.run_job(live.pk)
    live.refresh_from_db()
    grades = graded(study)
    Event.objects.model._base_manager.filter(verb="graded")._raw_delete("default")
    other = endpoint()
    job = ended(batched(make_judge(study, other.base_url, **prices)))
    whole(job, other)
    assert graded(study) == grades
    assert (job.calls, job.tokens_in, job.tokens_out) == (live.calls, live.tokens_in, live.tokens_out)
    assert job.cost == live.cost / 2
    batch = job.batches.get()
    assert (batch.requests_total, batch.requests_answered, batch.status) == (TOPICS, TOPICS, "completed")
    assert set(Call.objects.filter(job=job).values_list("batch", flat=True)) == {batch.pk}
    assert (batch.input_file, batch.output_file, batch.error_file) == ("", "", "")
    assert Decimal(job.estimate["cost"]) == (Decimal(live.estimate["cost"]) / 2).quantize(Decimal("0.0001"))


def test_prices_in_batches_can_be_told(study: Campaign, endpoint):
    prices = {"price_in": Decimal(1000), "price_in_batch": Decimal(300), "price_out_batch": Decimal(0)}
    job = ended(batched(make_judge(study, endpoint().base_url, **prices)))
    assert job.cost == job.tokens_in * Decimal("0.0003")


@pytest.mark.parametrize(
    "knobs",
    [
        {"batch_unordered": True, "batch_empty_error_id": True},
        {"batch_all_errors": True},
        {"batch_create_429": 2},
    ],
)
def test_what_providers_do_loses_and_doubles_nothing(study: Campaign, endpoint, knobs: dict):
    server = endpoint(**knobs)
    whole(ended(batched(make_judge(study, server.base_url))), server)


def test_a_second_answer_counts_as_answered_twice(study: Campaign, endpoint):
    server = endpoint(batch_doubled_rate=1)
    job = ended(batched(make_judge(study, server.base_url, price_in=Decimal(1000))))
    whole(job, server)
    assert Call.objects.filter(outcome="repeated").count() == TOPICS
    assert job.calls == 2 * TOPICS


def test_what_expired_goes_with_the_next_batch(study: Campaign, endpoint):
    server = endpoint(batch_expires_after=12)
    job = ended(batched(make_judge(study, server.base_url)))
    whole(job, server)
    assert statuses(job) == ["expired", "expired", "completed"]
    assert list(job.batches.order_by("pk").values_list("requests_answered", flat=True)) == [12, 12, 6]


def test_a_batch_that_vanishes_is_sent_anew_and_stands_in_the_ledger(study: Campaign, endpoint):
    server = endpoint(batch_vanishes=1)
    job = ended(batched(make_judge(study, server.base_url)))
    assert (job.state, job.units_done) == (Job.State.DONE, TOPICS)
    assert statuses(job) == ["vanished", "completed"]
    lost = Call.objects.filter(outcome="lost")
    assert lost.count() == TOPICS
    assert "has vanished at the provider" in lost.first().response
    assert Call.objects.filter(job=job, outcome="good").count() == TOPICS


def test_a_batch_of_too_many_tokens_is_halved(study: Campaign, endpoint):
    job = batched(make_judge(study, endpoint().base_url))
    runner.run_job(job.pk)
    tokens = sum(BatchRequest.objects.values_list("tokens_in", flat=True))
    server = endpoint(batch_token_limit=tokens * 6 // 10)
    job.judge.base_url = server.base_url
    job.judge.save()
    job = ended(job)
    whole(job, server)
    assert statuses(job) == ["failed", "completed", "completed"]
    assert list(job.batches.order_by("pk").values_list("requests_total", flat=True)) == [30, 15, 15]


def test_a_judges_limit_of_tokens_makes_several_batches(study: Campaign, endpoint):
    server = endpoint(batch_seconds=0.3)
    judge = make_judge(study, server.base_url)
    job = batched(judge)
    runner.run_job(job.pk)
    tokens = sum(BatchRequest.objects.values_list("tokens_in", flat=True))
    judge.batch_tokens = tokens // 3 + 60
    judge.save()
    job = ended(job, looks=200)
    whole(job, server)
    assert job.batches.count() == 3
    assert max(job.batches.values_list("tokens_in", flat=True)) <= judge.batch_tokens


def test_wrong_answers_are_asked_again_with_the_reason_in_another_batch(study: Campaign, endpoint):
    server = endpoint(garbage_rate=0.3)
    job = ended(batched(make_judge(study, server.base_url)))
    assert (job.state, job.units_done) == (Job.State.DONE, TOPICS)
    assert job.batches.count() >= 2
    wrong = Call.objects.filter(outcome="wrong").count()
    assert 0 < wrong == job.calls - TOPICS
    assert set(asked_at(server).values()) == {1}


def test_requests_that_the_endpoint_fails_are_tried_again(study: Campaign, endpoint):
    server = endpoint(failure_rate=0.3)
    job = ended(batched(make_judge(study, server.base_url)))
    assert (job.state, job.units_done) == (Job.State.DONE, TOPICS)
    assert Call.objects.filter(outcome="refused").count() == job.calls - TOPICS > 0


def test_a_budget_of_calls_holds_over_batches(study: Campaign, endpoint):
    server = endpoint()
    job = ended(batched(make_judge(study, server.base_url), most_calls=20))
    assert (job.state, job.calls, job.units_done) == (Job.State.HALTED, 20, 20)
    assert job.message == "The budget of 20 calls is used up."
    actions.change_budget(job=job, most_calls=None, most_cost=None, acting_user=None)
    actions.resume(job=job, acting_user=None)
    whole(ended(job), server)


def test_a_budget_of_money_counts_what_is_under_way(study: Campaign, endpoint):
    server = endpoint(batch_seconds=1_000)
    judge = make_judge(study, server.base_url, price_in=Decimal(2000))
    job = look(batched(judge, most_cost=Decimal(2)), times=4)
    assert (job.state, job.cost, statuses(job)) == (Job.State.RUNNING, 0, ["in_progress"])
    first = job.batches.get()
    assert Decimal(1) < judge.cost(first.tokens_in, 0, in_batch=True) <= Decimal(2)
    assert 0 < job.calls_begun == first.requests_total < TOPICS


def test_a_budget_of_money_ends_a_job_in_batches(study: Campaign, endpoint):
    judge = make_judge(study, endpoint().base_url, price_in=Decimal(2000))
    job = ended(batched(judge, most_cost=Decimal(2)), looks=100)
    assert job.state == Job.State.HALTED
    assert job.message == "The budget of 2 would be exceeded by the next call."
    assert Decimal(1) < job.cost <= Decimal(2)
    assert 0 < job.calls == job.calls_begun < TOPICS


def test_the_rest_can_be_asked_one_by_one(study: Campaign, endpoint, olga):
    server = endpoint(batch_seconds=1_000)
    job = look(batched(make_judge(study, server.base_url)))
    assert statuses(job) == ["validating"] or statuses(job) == ["in_progress"]
    page = reverse("job", args=["study", job.pk])
    assert "Ask the rest one by one" in client_of(olga).get(page).text
    assert client_of(olga).post(reverse("finish_job_live", args=["study", job.pk])).status_code == 302
    job = ended(job)
    assert job.mode == Job.Mode.LIVE
    whole(job, server)
    assert statuses(job) == ["cancelled"]
    assert "Ask the rest one by one" not in client_of(olga).get(page).text


def test_a_cancelled_job_keeps_what_its_batch_answered(study: Campaign, endpoint, olga):
    """It is paid: who launches the job again has it from the ledger."""
    server = endpoint()
    job = batched(make_judge(study, server.base_url, price_in=Decimal(10)))
    runner.run_job(job.pk)
    assert not batches.work_on(job.pk)
    actions.cancel(job=job, acting_user=olga)
    job = ended(job)
    answered = job.batches.get().requests_answered
    assert Call.objects.filter(outcome="unread").count() == answered
    assert (job.calls, job.cost > 0) == (answered, answered > 0)
    assert not BatchRequest.objects.exists()
    again = ended(batched(job.judge))
    assert (again.state, again.units_done, again.answered_from_ledger) == (Job.State.DONE, TOPICS, answered)
    assert set(asked_at(server).values()) == {1}


def test_a_paused_jobs_batch_is_read_and_nothing_more_is_sent(study: Campaign, endpoint, olga):
    server = endpoint(garbage_rate=0.3)
    job = batched(make_judge(study, server.base_url))
    runner.run_job(job.pk)
    batches.work_on(job.pk)
    actions.pause(job=job, acting_user=olga)
    job = look(job, times=5)
    assert statuses(job) == ["completed"]
    assert job.batches.get().requests_answered == TOPICS
    actions.resume(job=job, acting_user=olga)
    job = ended(job)
    assert (job.state, job.units_done) == (Job.State.DONE, TOPICS)


def test_a_job_stops_where_a_batch_was_answered_by_another_model(study: Campaign, endpoint):
    server = endpoint(renamed_after=10)
    job = ended(batched(make_judge(study, server.base_url)))
    assert job.state == Job.State.HALTED
    assert job.message.startswith("The endpoint now answers with")
    actions.resume(job=job, acting_user=None)
    job = ended(job)
    assert Call.objects.filter(outcome="good").count() >= 1
    assert set(asked_at(server).values()) == {1}


def test_a_refused_batch_halts_the_job_with_the_reason(study: Campaign, endpoint):
    job = batched(make_judge(study, endpoint().base_url))
    runner.run_job(job.pk)
    BatchRequest.objects.filter(pk=BatchRequest.objects.first().pk).update(body='{"model":"other","messages":[]}')
    job = ended(job)
    assert job.state == Job.State.HALTED
    assert job.message.startswith("The provider refused a batch: ")


def test_files_can_be_carried(study: Campaign, endpoint, tmp_path: Path, capsys):
    """Another program answers them: here request by request, as vLLM's run-batch does."""
    import httpx2

    server = endpoint(garbage_rate=0.2)
    job = batched(make_judge(study, server.base_url), mode=Job.Mode.FILES)
    for number in range(8):
        requests, answers = tmp_path / f"requests{number}", tmp_path / f"answers{number}"
        call_command("write_batch", job.pk, requests)
        with answers.open("w") as out:
            for line in requests.read_text().splitlines():
                one = json.loads(line)
                assert (one["method"], one["url"]) == ("POST", "/v1/chat/completions")
                came = httpx2.post(f"{server.base_url}/chat/completions", json=one["body"])
                response = {"status_code": came.status_code, "request_id": "r", "body": came.json()}
                out.write(json.dumps({"id": "x", "custom_id": one["custom_id"], "response": response, "error": None}))
                out.write("\n")
        call_command("read_batch", job.pk, answers)
        job.refresh_from_db()
        if job.state == Job.State.DONE:
            break
    assert (job.state, job.units_done, number > 0) == (Job.State.DONE, TOPICS, True)
    assert set(asked_at(server).values()) == {1}
    assert not BatchRequest.objects.exists()


def test_answers_to_something_else_change_nothing(study: Campaign, endpoint, tmp_path: Path):
    job = batched(make_judge(study, endpoint().base_url), mode=Job.Mode.FILES)
    with pytest.raises(CommandError, match="No file of this job is under way"):
        call_command("read_batch", job.pk, tmp_path / "none")
    call_command("write_batch", job.pk, tmp_path / "requests")
    with pytest.raises(CommandError, match="is there already"):
        call_command("write_batch", job.pk, tmp_path / "requests")
    line = {"custom_id": "0" * 64, "response": {"status_code": 200, "body": {}}, "error": None}
    (tmp_path / "answers").write_text(json.dumps(line) + "\nno json\n" + "x" * 3_000_000 + "\n[]\n")
    before = list(BatchRequest.objects.order_by("pk").values())
    with pytest.raises(CommandError, match="None of these lines answers a request"):
        call_command("read_batch", job.pk, tmp_path / "answers")
    assert list(BatchRequest.objects.order_by("pk").values()) == before


def test_a_paused_job_sends_no_batch(study: Campaign, endpoint, olga):
    server = endpoint()
    job = batched(make_judge(study, server.base_url))
    runner.run_job(job.pk)
    assert batches.make(job.pk) is not None
    actions.pause(job=job, acting_user=olga)
    job = look(job, times=2)
    assert (statuses(job), server.of("batch_created")) == ([""], [])
    assert job.batches.get().message == "It is sent once the job is resumed."
    actions.resume(job=job, acting_user=olga)
    whole(ended(job), server)


def test_a_batch_that_was_half_made_at_a_kill_goes_as_it_is(study: Campaign, endpoint, monkeypatch):
    server = endpoint()
    job = batched(make_judge(study, server.base_url))
    runner.run_job(job.pk)
    monkeypatch.setattr(batches, "_AT_ONCE", 12)
    put = QuerySet.update

    def dies(rows, **columns):
        done = put(rows, **columns)
        if "batch" in columns:
            monkeypatch.setattr(QuerySet, "update", put)
            raise SystemExit
        return done

    monkeypatch.setattr(QuerySet, "update", dies)
    with pytest.raises(SystemExit):
        batches.make(job.pk)
    job = ended(job)
    whole(job, server)
    assert list(job.batches.order_by("pk").values_list("requests_total", flat=True)) == [12, 18]
    assert job.calls_begun == TOPICS


def test_no_key_is_stored_that_an_endpoint_repeats(study: Campaign, endpoint, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", "rehearsal")  # which each answer has
    server = endpoint(garbage_rate=0)
    job = ended(batched(make_judge(study, server.base_url, key_variable="TEST_API_KEY")))
    assert job.units_done == TOPICS
    assert not Call.objects.filter(response__contains="rehearsal").exists()
    assert Call.objects.filter(response__contains="[key]").count() == TOPICS
