"""Whole jobs in this process, over real HTTP to the rehearsal endpoint."""

import asyncio
from collections import Counter
from decimal import Decimal
from hashlib import sha256
from threading import Thread, Timer

import pytest
from django.db import OperationalError, connection

from assessor.campaigns.models import Campaign, Condition, Event
from assessor.llm import actions, gateway, limits, prompt_requests, write_batches
from assessor.llm import runner as running
from assessor.llm.actions import JobError
from assessor.llm.models import Call, Job, ModelJudge, Runner, StoredPrompt, Unit
from assessor.llm.named_models import is_mixed, named_models
from assessor.llm.prompt_sets import prompt_set
from tests.llm.grading import Grading, graded, make_job, make_judge

pytestmark = pytest.mark.django_db(transaction=True)
TOPICS = 30


@pytest.fixture
def study(empty_campaign: Campaign, import_file) -> Campaign:
    """Thirty topics."""
    about = ("cats purr", "cats and trains", "trains and boats")
    topics = "".join(f"t{number:02}\t{about[number % 3]}{' !' * number}\n" for number in range(TOPICS))
    assert import_file(empty_campaign, "topics", topics).state == "done"
    return empty_campaign


def ended(job: Job) -> Job:
    running.run_job(job.pk)
    job.refresh_from_db()
    assert not Runner.objects.exists()
    assert not job.units.filter(state=Unit.State.CLAIMED).exists()
    return job


def clean_grades(study: Campaign, endpoint) -> dict[str, int]:
    """Return what a job gives when nothing goes wrong."""
    other = make_judge(study, endpoint().base_url, name="clean")
    job = ended(make_job(other, replicate=7))
    assert (job.state, job.units_done, job.calls) == (Job.State.DONE, TOPICS, TOPICS)
    grades = graded(study)
    assert set(grades.values()) == {0, 2, 3}
    Event.objects.model._base_manager.filter(verb="graded")._raw_delete("default")
    return grades


def test_a_job_does_every_unit_once(study: Campaign, endpoint):
    server = endpoint()
    judge = make_judge(study, server.base_url, price_in=Decimal(1000), price_out=Decimal(2000))
    job = ended(make_job(judge))
    assert (job.state, job.units_done, job.units_failed, job.units_total) == (Job.State.DONE, TOPICS, 0, TOPICS)
    assert (job.calls, job.answered_from_ledger) == (TOPICS, 0)
    assert sorted(graded(study)) == [f"t{number:02}" for number in range(TOPICS)]
    assert len(server.ended()) == TOPICS
    assert {call["status"] for call in server.ended()} == {200}
    calls = list(Call.objects.all())
    assert len(calls) == TOPICS
    assert {call.outcome for call in calls} == {Call.Outcome.GOOD}
    assert sum(call.tokens_in for call in calls) == job.tokens_in > 0
    assert job.cost == Decimal(job.tokens_in) / 1000 + Decimal(job.tokens_out) / 500
    assert sum(call.cost for call in calls) == job.cost
    assert {call.request for call in calls} == {call["request"] for call in server.ended()}
    assert all(call.model == "rehearsal (m)" and "final score" in call.response for call in calls)
    assert {call.unit_id for call in calls} == set(job.units.values_list("pk", flat=True))
    assert job.condition.identity.startswith("kind=relevance; method=UMBRELA; judge=j; prompts=")
    text = prompt_set("assay-1").texts["relevance"]
    assert StoredPrompt.objects.get().text == text
    assert job.condition.prompts == {"relevance": sha256(text.encode()).hexdigest()}


def test_a_job_stops_where_the_endpoint_names_another_model(study: Campaign, endpoint):
    """What came is kept; whoever resumes it goes on with the other model. Nothing is asked twice."""
    server = endpoint(renamed_after=10)
    judge = make_judge(study, server.base_url, concurrency=1)
    job = ended(make_job(judge))
    assert (job.state, job.calls) == (Job.State.HALTED, 11)
    assert job.message == (
        "The endpoint now answers with rehearsal (m-next); before, it was rehearsal (m). Resume to go on with rehearsal"
        " (m-next), or name the exact version in a new judge."
    )
    actions.resume(job=job, acting_user=None)
    job = ended(job)
    assert (job.state, job.units_done, job.calls) == (Job.State.DONE, TOPICS, TOPICS)
    assert max(Counter(call["request"] for call in server.ended()).values()) == 1
    found = [(one.name, one.calls) for one in named_models(job.condition)]
    assert found == [("rehearsal (m)", 10), ("rehearsal (m-next)", 20)]


def test_a_judge_may_accept_other_models(study: Campaign, endpoint):
    judge = make_judge(study, endpoint(renamed_after=10).base_url, accepts_other_models=True)
    job = ended(make_job(judge))
    assert (job.state, job.units_done, job.calls) == (Job.State.DONE, TOPICS, TOPICS)
    assert is_mixed(job.condition)


def test_a_later_job_of_the_condition_stops_at_another_model_too(study: Campaign, endpoint):
    server = endpoint(renamed_after=1)
    judge = make_judge(study, server.base_url, concurrency=1)
    first = make_job(judge, most_calls=1)
    assert (ended(first).state, first.calls) == (Job.State.HALTED, 1)
    actions.cancel(job=first, acting_user=None)
    again = ended(make_job(judge))
    assert (again.condition, again.state, again.calls) == (first.condition, Job.State.HALTED, 1)
    assert "m-next" in again.message


def test_equal_requests_are_answered_from_the_ledger(study: Campaign, endpoint):
    server = endpoint()
    judge = make_judge(study, server.base_url)
    first = ended(make_job(judge))
    assert first.calls == TOPICS
    Job.objects.update(state=Job.State.DONE)
    again = ended(make_job(judge))
    assert (again.state, again.units_done, again.calls, again.answered_from_ledger) == ("done", TOPICS, 0, TOPICS)
    assert again.cost == 0
    sampled = ended(make_job(judge, replicate=1))
    assert (sampled.calls, sampled.answered_from_ledger) == (TOPICS, 0)
    assert sampled.condition != first.condition
    assert "replicate=1" in sampled.condition.identity
    assert len(server.ended()) == 2 * TOPICS


def test_units_that_ask_the_same_ask_once(empty_campaign: Campaign, import_file, endpoint):
    import_file(empty_campaign, "topics", "".join(f"t{number}\tcats purr\n" for number in range(20)))
    server = endpoint(latency=0.05)
    job = ended(make_job(make_judge(empty_campaign, server.base_url, concurrency=20)))
    assert (job.units_done, job.calls, job.answered_from_ledger, len(server.ended())) == (20, 1, 19, 1)


def test_structured_output_sends_the_schema_and_gives_the_same(study: Campaign, endpoint):
    expected = clean_grades(study, endpoint)
    server = endpoint()
    job = ended(make_job(make_judge(study, server.base_url, structured=True)))
    assert job.state == Job.State.DONE
    assert graded(study) == expected
    assert all('{\\"final_score\\":' in call.response for call in Call.objects.filter(job=job))


TROUBLES = ("failure_rate", "broken_rate", "garbage_rate", "short_rate", "wrong_label_rate", "fenced_rate")


@pytest.mark.parametrize(
    "trouble", [*TROUBLES, "rate_limit_rate", "hang_rate", "endless_rate", "gzip_bomb_rate", "drip_rate"]
)
def test_whatever_goes_wrong_the_labels_are_those_of_a_clean_run(study: Campaign, endpoint, trouble: str):
    expected = clean_grades(study, endpoint)
    rate = 0.9 if trouble == "fenced_rate" else 0.2
    server = endpoint(seed=2, retry_after=0.2, **{trouble: rate})
    # Where an answer is not meant to be lost, a busy machine shall not lose it either.
    lost = ("broken_rate", "hang_rate", "drip_rate")
    job = ended(make_job(make_judge(study, server.base_url, timeout=1 if trouble in lost else 30)))
    assert (job.state, job.units_failed) == (Job.State.DONE, 0)
    assert graded(study) == expected
    went_wrong = [call for call in server.ended() if call["what"] != "ok"]
    assert len(went_wrong) > 3
    assert len(server.ended()) == job.calls
    outcomes = set(Call.objects.filter(job=job).values_list("outcome", flat=True))
    if trouble == "fenced_rate":
        assert (outcomes, job.calls) == ({"good"}, TOPICS)
    else:
        refused = ("failure_rate", "rate_limit_rate", "endless_rate", "gzip_bomb_rate")
        assert outcomes == {"good", "refused" if trouble in refused else "lost" if trouble in lost else "wrong"}


def test_a_wrong_answer_is_asked_again_with_the_reason_three_times_and_then_fails(study: Campaign, endpoint):
    server = endpoint(wrong_label_rate=1)
    job = ended(make_job(make_judge(study, server.base_url, concurrency=1)))
    assert job.state == Job.State.HALTED  # twenty in a row
    assert job.message.startswith("20 units in a row failed, the last one: The final score is ")
    assert graded(study) == {}
    failed = job.units.filter(state=Unit.State.FAILED)
    assert failed.count() == job.units_failed == prompt_requests.MOST_FAILURES - 1
    assert failed[0].error.startswith("Wrong answer 4 times to the question of relevance: The final score is ")
    assert job.units.filter(state=Unit.State.WAITING).count() == TOPICS - failed.count()
    # System and question, then each time the wrong answer and the reason.
    asked = Counter(call["conversation"] for call in server.ended())
    assert set(asked) == {2, 4, 6, 8}
    assert asked[8] >= failed.count()
    assert set(Call.objects.values_list("outcome", flat=True)) == {"wrong"}


def test_failed_units_are_asked_again_when_a_person_says_so(study: Campaign, endpoint):
    server = endpoint(garbage_rate=1)
    judge = make_judge(study, server.base_url)
    job = make_job(judge)
    Unit.objects.filter(pk__in=list(job.units.order_by("pk").values_list("pk", flat=True)[5:])).delete()
    Job.objects.update(units_total=5)
    job = ended(job)
    assert (job.state, job.units_failed, job.calls) == (Job.State.DONE, 5, 20)
    ModelJudge.objects.update(base_url=endpoint().base_url)
    assert actions.retry_failed(job=job, acting_user=None) == 5
    job.refresh_from_db()
    assert (job.state, job.units_failed, job.ended_at) == (Job.State.WAITING, 0, None)
    job = ended(job)
    assert (job.state, job.units_done, job.units_failed) == (Job.State.DONE, 5, 0)
    assert job.answered_from_ledger == 0  # what was wrong is asked for anew
    assert len(graded(study)) == 5


def test_a_unit_that_needs_no_call_fails_with_its_reason_and_the_others_are_done(study: Campaign, endpoint):
    study.topics.filter(qid="t03").update(title="nothing")
    job = ended(make_job(make_judge(study, endpoint().base_url)))
    assert (job.state, job.units_done, job.units_failed, job.calls) == (Job.State.DONE, TOPICS - 1, 1, TOPICS - 1)
    assert job.units.get(state=Unit.State.FAILED).error == "nothing to grade"


def test_a_result_that_cant_be_stored_fails_its_unit_alone(study: Campaign, endpoint, monkeypatch):
    monkeypatch.setattr(Grading, "unstorable", {study.topics.get(qid="t05").title})
    job = ended(make_job(make_judge(study, endpoint().base_url)))
    assert (job.units_done, job.units_failed, len(graded(study))) == (TOPICS - 1, 1, TOPICS - 1)
    assert job.units.get(state=Unit.State.FAILED).error == "The result could not be stored: no room"


def test_while_the_database_takes_nothing_no_unit_fails(study: Campaign, endpoint, monkeypatch):
    """A stand-in for a full disk, on any database; tests/faults fills a real one."""
    monkeypatch.setattr(write_batches, "_PAUSE", 0.0)
    server = endpoint()
    job = make_job(make_judge(study, server.base_url))
    with monkeypatch.context() as full:

        def record(*entries: object) -> None:
            raise OperationalError("database or disk is full")

        full.setattr(running.ledger, "record", record)
        job = ended(job)
    assert (job.state, job.units_done, job.units_failed, job.message) == (Job.State.RUNNING, 0, 0, "")
    assert job.units.filter(state=Unit.State.WAITING).count() == TOPICS
    asked = len(server.ended())
    assert 0 < asked <= 2 * 8 + 8, "what was in flight, and no more"
    job = ended(job)
    assert (job.state, job.units_done, job.units_failed, len(graded(study))) == ("done", TOPICS, 0, TOPICS)


# One clear message on the job, not one for each unit.


def halted(job: Job) -> str:
    job = ended(job)
    assert job.state == Job.State.HALTED
    assert (job.units_done, job.units_failed) == (0, 0)
    assert job.units.filter(state=Unit.State.WAITING).count() == TOPICS
    assert Event.objects.filter(verb="job halted").count() == 1
    return job.message


def test_nobody_at_the_endpoint(study: Campaign, endpoint):
    server = endpoint()
    server.stop()
    message = halted(make_job(make_judge(study, server.base_url)))
    assert message.startswith(f"{server.base_url} can't be reached: ")
    assert Call.objects.count() <= (2 * 8 + 8) * prompt_requests.TRIES


def test_the_key_is_missing(study: Campaign, endpoint, monkeypatch):
    monkeypatch.delenv("TEST_API_KEY", raising=False)
    server = endpoint(require_key=True)
    judge = make_judge(study, server.base_url, key_variable="TEST_API_KEY")
    job = make_job(judge)
    message = halted(job)
    assert message == "The environment of this process has no TEST_API_KEY: set it and start it again."
    assert server.begun() == []
    monkeypatch.setenv("TEST_API_KEY", "sk-very-secret")
    actions.resume(job=job, acting_user=None)
    job = ended(job)
    assert (job.state, job.units_done, job.message) == (Job.State.DONE, TOPICS, "")


def test_the_endpoint_asks_for_a_key(study: Campaign, endpoint):
    job = make_job(make_judge(study, endpoint(require_key=True).base_url))
    assert halted(job) == "The endpoint answered 401: Send a key, as Authorization: Bearer."


def test_there_is_no_such_model(study: Campaign, endpoint):
    server = endpoint()
    message = halted(make_job(make_judge(study, server.base_url, model="no-such-model")))
    assert message == "The endpoint answered 404: There is no such model."
    assert Call.objects.count() <= 8


def test_the_key_stands_nowhere_but_in_the_request(study: Campaign, endpoint, monkeypatch, caplog):
    monkeypatch.setenv("TEST_API_KEY", "sk-very-secret")
    judge = make_judge(study, endpoint(require_key=True, failure_rate=0.2).base_url, key_variable="TEST_API_KEY")
    job = ended(make_job(judge))
    assert job.units_done == TOPICS
    for model in (Call, Job, Unit, Event, ModelJudge):
        assert "sk-very-secret" not in str(list(model._base_manager.values()))
    assert "sk-very-secret" not in caplog.text


def test_an_endpoint_that_repeats_the_key_is_not_believed():
    way = gateway.Gateway(gateway.Setting("http://127.0.0.1:9/v1", "sk-very-secret", 1.0, {}), 1)
    assert way._clean("Incorrect API key provided: sk-very-secret.") == "Incorrect API key provided: [key]."
    asyncio.run(way.close())


def test_a_variable_that_is_no_key_is_never_read(study: Campaign, endpoint):
    judge = make_judge(study)
    ModelJudge.objects.update(key_variable="ASSAY_SECRET_KEY")
    judge.refresh_from_db()
    with pytest.raises(Exception, match="ends in _API_KEY"):
        gateway.setting_of(judge)


# Budgets.


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_budget_of_calls_is_never_passed(study: Campaign, endpoint, concurrency: int):
    server = endpoint()
    job = ended(make_job(make_judge(study, server.base_url, concurrency=concurrency), most_calls=12))
    assert (job.state, job.message) == (Job.State.HALTED, "The budget of 12 calls is used up.")
    assert len(server.begun()) == job.calls == job.units_done == 12
    assert job.units.filter(state=Unit.State.WAITING).count() == TOPICS - 12
    actions.change_budget(job=job, most_calls=None, most_cost=None, acting_user=study.created_by)
    actions.resume(job=job, acting_user=None)
    job = ended(job)
    assert (job.state, job.units_done, len(server.begun())) == (Job.State.DONE, TOPICS, TOPICS)


def test_a_budget_of_money_is_never_passed(study: Campaign, endpoint):
    judge = make_judge(study, endpoint().base_url, price_in=Decimal(1000), price_out=Decimal(1000))
    job = ended(make_job(judge, most_cost="5"))
    assert job.state == Job.State.HALTED
    assert job.message == "The budget of 5 would be exceeded by the next call."
    assert Decimal(4) < job.cost <= Decimal(5)


# Stopping.


def test_a_paused_job_begins_nothing_and_goes_on_where_it_was(study: Campaign, endpoint):
    server = endpoint()
    job = make_job(make_judge(study, server.base_url))
    actions.pause(job=job, acting_user=study.created_by)
    job = ended(job)
    assert (job.state, server.begun()) == (Job.State.PAUSED, [])
    actions.resume(job=job, acting_user=study.created_by)
    assert ended(job).units_done == TOPICS


def test_a_job_that_is_over_can_only_be_looked_at(study: Campaign, endpoint):
    job = make_job(make_judge(study, endpoint().base_url))
    actions.cancel(job=job, acting_user=study.created_by)
    job = ended(job)
    assert (job.state, job.units_done) == (Job.State.CANCELLED, 0)
    for action in (actions.pause, actions.resume, actions.cancel, actions.retry_failed):
        with pytest.raises(JobError):
            action(job=job, acting_user=study.created_by)


def test_two_jobs_of_one_condition_dont_run_beside_each_other(study: Campaign):
    judge = make_judge(study)
    job = make_job(judge)
    with pytest.raises(JobError, match=f"Job {job.pk} works under by j and is waiting for a worker"):
        make_job(judge)
    assert Condition.objects.filter(campaign=study).count() == 1


def test_a_changed_folder_of_prompts_changes_no_job_under_way(study: Campaign, endpoint, settings, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for question, text in prompt_set("assay-1").texts.items():
        (folder / f"{question}.md").write_text(text.replace("You judge how relevant", "You grade how relevant"))
    settings.PROMPT_SETS = tmp_path
    job = make_job(make_judge(study, endpoint().base_url, prompt_set="mine"))
    expected = prompt_set("mine").texts["relevance"]
    (folder / "relevance.md").write_text("gone")
    job = ended(job)
    assert (job.state, job.units_done) == (Job.State.DONE, TOPICS)
    assert "You grade how relevant" in expected
    assert StoredPrompt.objects.get(sha256=job.condition.prompts["relevance"]).text == expected
    with pytest.raises(JobError, match=r"mine/relevance.md needs a part under '# system'"):
        make_job(make_judge(study, name="other", prompt_set="mine"))


def test_nothing_is_paid_again_where_a_prompt_changes_that_the_job_does_not_use(
    study: Campaign, endpoint, settings, tmp_path
):
    folder = tmp_path / "mine"
    folder.mkdir()
    for prompt, text in prompt_set("assay-1").texts.items():
        (folder / f"{prompt}.md").write_text(text)
    settings.PROMPT_SETS = tmp_path
    server = endpoint()
    judge = make_judge(study, server.base_url, prompt_set="mine")
    first = ended(make_job(judge))
    assert len(server.ended()) == TOPICS

    # The condition stays the same one.
    (folder / "support.md").write_text("# system\n# user\n${sentence} ${passage}")
    (folder / "importance.md").unlink()
    again = ended(make_job(judge))
    assert again.condition == first.condition
    assert (again.units_done, again.answered_from_ledger, len(server.ended())) == (TOPICS, TOPICS, TOPICS)

    # So it is where another version of Assay identifies conditions otherwise, which makes another condition.
    Condition.objects.filter(pk=first.condition.pk).update(name="before", identity="prompts=1f3a")
    study.qrels_sources.filter(condition=first.condition).update(name="before")
    other = ended(make_job(judge))
    assert other.condition != first.condition
    assert (other.units_done, other.answered_from_ledger, len(server.ended())) == (TOPICS, TOPICS, TOPICS)


def test_a_job_refuses_a_set_that_lacks_its_prompt(study: Campaign, settings, tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "support.md").write_text("# system\n# user\n${sentence} ${passage}")
    settings.PROMPT_SETS = tmp_path
    with pytest.raises(JobError) as caught:
        make_job(make_judge(study, prompt_set="part"))
    assert str(caught.value) == (
        "The prompt set part lacks relevance.md, which a job of the kind Grading needs. Choose another prompt set in "
        "the judge's settings, or add the file to a set in a folder."
    )
    assert not Condition.objects.filter(campaign=study).exists()


# What must not hang, be lost, or be passed.


def test_a_mistake_that_is_no_units_halts_the_job_and_keeps_what_is_paid(study: Campaign, endpoint, monkeypatch):
    prepared = []
    prepare = Grading.prepare

    def once(self, job, units):
        prepared.append(units)
        if len(prepared) > 1:
            raise KeyError("no such thing")
        return prepare(self, job, units)

    monkeypatch.setattr(Grading, "prepare", once)
    server = endpoint(latency=0.3)
    job = ended(make_job(make_judge(study, server.base_url, concurrency=4)))
    assert (job.state, job.message) == (Job.State.HALTED, "KeyError: 'no such thing'")
    assert {call["status"] for call in server.ended()} == {200}  # what was in flight came back
    assert len(server.ended()) == job.calls == job.units_done > 0


@pytest.mark.parametrize("beats", [0, 2])
def test_a_runner_that_can_give_no_sign_of_life_stops(study: Campaign, endpoint, monkeypatch, beats: int):
    share, given = limits.share, []

    def failing(runner, in_flight):
        given.append(in_flight)
        if len(given) > beats:
            raise RuntimeError("no database")
        return share(runner, in_flight)

    monkeypatch.setattr(limits, "share", failing)
    job = ended(make_job(make_judge(study, endpoint(latency=0.3).base_url, concurrency=1)))
    assert (job.state, job.message) == (Job.State.HALTED, "RuntimeError: no database")
    assert job.units_done < TOPICS


def test_a_budget_of_nothing_is_refused(study: Campaign):
    judge = make_judge(study)
    for budget in ({"most_calls": 0}, {"most_cost": "0"}, {"most_cost": "-1"}):
        with pytest.raises(JobError, match="A budget is more than nothing"):
            make_job(judge, **budget)


def run_in_threads(job: Job, count: int) -> None:
    def run() -> None:
        try:
            running.run_job(job.pk)
        finally:
            connection.close()

    threads = [Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    job.refresh_from_db()


def test_a_budget_of_money_holds_over_all_runners(study: Campaign, endpoint):
    judge = make_judge(study, endpoint(latency=1.0).base_url, price_in=Decimal(1000), concurrency=14)
    job = make_job(judge, most_cost="3")
    run_in_threads(job, 2)
    assert job.state == Job.State.HALTED
    assert Decimal(1) < job.cost <= Decimal(3)


def test_runners_beside_each_other_dont_block_each_other(study: Campaign, endpoint, monkeypatch):
    """Where two would wait for each other, the database breaks one off: here that is not tried again."""
    monkeypatch.setattr(write_batches, "_TRIES", 1 if connection.vendor == "postgresql" else 5)
    judge = make_judge(study, endpoint(latency=0.02).base_url, requests_per_minute=60_000, concurrency=12)
    for replicate in range(3):
        job = make_job(judge, replicate=replicate)
        run_in_threads(job, 4)
        assert (job.state, job.units_done) == (Job.State.DONE, TOPICS)
    assert not Runner.objects.exists()


def test_answers_of_a_limited_judge_are_stored_together(study: Campaign, endpoint):
    """Each that came alone took three transactions: of two workers at 40 requests a second more than half a core."""
    server = endpoint(latency=0.02)
    job = ended(make_job(make_judge(study, server.base_url, requests_per_minute=2_400, concurrency=12)))
    assert (job.state, job.units_done, job.calls, job.calls_begun) == (Job.State.DONE, TOPICS, TOPICS, TOPICS)
    assert len(set(Call.objects.values_list("at", flat=True))) <= TOPICS - 6, "on a busy machine; else by fours"
    # They leave no later for it: the limit is 25.5 ms each.
    begun = sorted(call["start"] for call in server.begun())
    assert 29 * 0.024 < begun[-1] - begun[0] < 29 * 0.07


def test_what_did_not_leave_before_a_pause_counts_for_no_budget(study: Campaign, endpoint):
    server = endpoint()
    job = make_job(make_judge(study, server.base_url, requests_per_minute=60), most_calls=20)

    def pause() -> None:
        try:
            actions.pause(job=job, acting_user=None)
        finally:
            connection.close()  # or the database could not be removed at the end

    pausing = Timer(2.5, pause)
    pausing.start()
    job = ended(job)
    pausing.join()
    assert job.state == Job.State.PAUSED
    assert job.calls_begun == job.calls == len(server.begun()) < 8


def test_failed_units_are_not_retried_beside_another_job_of_the_condition(study: Campaign, endpoint):
    study.topics.filter(qid="t03").update(title="nothing")
    judge = make_judge(study, endpoint().base_url)
    first = ended(make_job(judge))
    make_job(judge)
    with pytest.raises(JobError, match="works under by j and is waiting for a worker"):
        actions.retry_failed(job=first, acting_user=None)


def test_after_a_halt_wrong_answers_of_before_are_asked_for_anew(study: Campaign, endpoint):
    server = endpoint(garbage_rate=1)
    job = ended(make_job(make_judge(study, server.base_url)))
    assert job.state == Job.State.HALTED
    failed = job.units_failed
    ModelJudge.objects.update(base_url=endpoint().base_url)
    actions.resume(job=job, acting_user=None)
    job = ended(job)
    assert (job.state, job.units_failed, job.units_done) == (Job.State.DONE, failed, TOPICS - failed)
