"""AutoAssign as whole jobs over real HTTP: what is asked, what is stored, and what is missing where it goes wrong."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Campaign, Condition, Run, Topic
from assessor.llm import actions, gateway, runner
from assessor.llm.actions import JobError, Plan, change_judge, launch, plan_job
from assessor.llm.job_kind import UnitFailure, job_kind_named
from assessor.llm.models import Job, ModelJudge, Unit
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import TOKENS_LABEL
from assignment.actions import add_lacking_sheets, store_labels
from assignment.actions.auto_assign import Labelled
from assignment.auto_assign import ASSIGNMENT_PROMPT, AutoAssign
from assignment.models import AnswerSheet, LabelEvent
from nuggets import actions as nugget_actions
from nuggets.models import BankEdition, NuggetBank
from nuggets.queries import with_keys
from tests.assignment.conftest import A, run_file
from tests.conftest import client_of
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.endpoint import RunningEndpoint
from tests.llm.grading import make_judge
from tests.nuggets.conftest import do, fill

pytestmark = pytest.mark.django_db(transaction=True)
AUTO = job_kind_named("AutoAssign")
NEW = UUID(int=104)
# Each has words of its own, by which the rehearsal endpoint labels.
WORDS = [f"word{chr(97 + number)}" for number in range(23)]
SAID = ("worda", "wordj", "wordk", "wordw")  # the first, the tenth, the eleventh, the last
PROMPTS = prompt_set("assay-1")


@pytest.fixture
def long(answered: Campaign, import_file) -> Condition:
    """Imported nuggets: 23 on t1, of which one run says four, and two on t2."""
    lines = [
        {"query": "", "qid": "t1", "nuggets": [{"text": f"{word} {word}", "importance": "vital"} for word in WORDS]},
        {"query": "", "qid": "t2", "nuggets": [{"text": text} for text in ("glass is melted", "glass sorted twice")]},
    ]
    assert import_file(answered, "nuggets", lines, condition="Long", by="people").state == "done"
    answer = run_file("team.words", {"t1": [f"It says {word}." for word in SAID]})
    assert import_file(answered, "runs", answer).state == "done"
    return answered.conditions.get(name="Long")


def plan(judge: ModelJudge, nuggets: Condition, topics: Sequence[Topic] | None = None, **options: Any) -> Plan:
    chosen = list(judge.campaign.topics.order_by("qid")) if topics is None else topics
    options = {"name": "", "qrels_source": None} | options
    return plan_job(kind=AUTO, judge=judge, topics=chosen, nuggets=nuggets, **options)


def launched(plan: Plan) -> Job:
    return launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)


def ended(job: Job) -> Job:
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    return job


def assigned(judge: ModelJudge, nuggets: Condition, **options: Any) -> Job:
    return ended(launched(plan(judge, nuggets, **options)))


def request_of(judge: ModelJudge, answer: Answer, nuggets: Sequence[str]) -> str:
    """Return the request, as the endpoint logs it, that asks about these nuggets in an answer."""
    question = ASSIGNMENT_PROMPT.request(PROMPTS, query=answer.topic.title, answer=answer.text, nuggets=nuggets)
    return gateway.request_hash(gateway.request_body(question, question.messages, judge.judge.parameters))


def asked(server: RunningEndpoint) -> Counter[str]:
    assert {call["prompt"] for call in server.begun()} <= {"assignment"}
    return Counter(call["request"] for call in server.begun())


def answer_of(tag: str, qid: str) -> Answer:
    return Answer.objects.select_related("topic").get(run__tag=tag, topic__qid=qid)


def labels(condition: Condition) -> dict[tuple[str, str], list[str]]:
    """Return the labels of all nuggets that have one, in bank order, by run's tag and topic."""
    return {
        (sheet.answer.run.tag, sheet.answer.topic.qid): [
            sheet.labels[str(nugget["id"])]
            for nugget in with_keys(BankEdition.objects.filter(bank=sheet.bank, edition=sheet.edition))[0].nuggets
            if str(nugget["id"]) in sheet.labels
        ]
        for sheet in AnswerSheet.objects.filter(condition=condition).select_related("answer__run", "answer__topic")
    }


def test_nuggets_are_asked_ten_at_a_time_and_each_gets_its_own_label(long: Condition, endpoint):  # noqa: F811
    server = endpoint()
    judge = make_judge(long.campaign, server.base_url, structured=True)
    todo = plan(judge, long)
    job = ended(launched(todo))
    texts = [f"{word} {word}" for word in WORDS]
    of_t2 = ["glass is melted", "glass sorted twice"]
    wanted = Counter(
        request_of(judge, answer_of(tag, "t1"), batch)
        for tag in ("team.one", "team.two", "team.words")
        for batch in (texts[:10], texts[10:20], texts[20:])
    )
    wanted.update(request_of(judge, answer_of(tag, "t2"), of_t2) for tag in ("team.one", "team.two"))
    assert asked(server) == wanted
    assert (job.units_total, job.units_done, job.calls) == (5, 5, 11)
    condition = job.condition
    assert labels(condition) == {
        ("team.one", "t1"): ["not_support"] * 23,
        ("team.two", "t1"): ["not_support"] * 23,
        ("team.empty", "t1"): ["not_support"] * 23,
        ("team.words", "t1"): ["support" if word in SAID else "not_support" for word in WORDS],
        ("team.one", "t2"): ["support", "not_support"],
        ("team.two", "t2"): ["support", "partial_support"],
    }
    for sheet in AnswerSheet.objects.filter(condition=condition):
        assert (sheet.to_do, sheet.judge, sheet.edition, sheet.asked, sheet.task) == (0, judge.judge, 1, None, None)
        assert sheet.by_rule == (sheet.answer.words == 0)
        assert sheet.version == (0 if sheet.by_rule else 1)
    revisions = LabelEvent.objects.all()
    assert revisions.values("sheet").distinct().count() == 5
    assert {(one.verb, one.judge, one.job, one.task, one.edition) for one in revisions} == {
        ("labelled", judge.judge, job, None, 1)
    }
    told = LabelEvent.objects.filter(sheet__answer=answer_of("team.two", "t2")).order_by("pk")
    assert [(one.value_before, one.value) for one in told] == [(None, "support"), (None, "partial_support")]


def test_the_estimate_is_what_is_sent_and_saves_nothing(long: Condition, endpoint):  # noqa: F811
    server = endpoint()
    judge = make_judge(long.campaign, server.base_url)
    before = plan(judge, long)
    assert not AnswerSheet.objects.exists()
    assert not Condition.objects.filter(kind="assignment").exists()
    assert before.expected.tokens_out == (3 * 23 + 2 * 2) * TOKENS_LABEL
    sent = 0
    for answer in Answer.objects.exclude(words=0).select_related("topic"):
        texts = [f"{word} {word}" for word in WORDS] if answer.topic.qid == "t1" else []
        texts = texts or ["glass is melted", "glass sorted twice"]
        for batch in (texts[:10], texts[10:20], texts[20:]):
            question = ASSIGNMENT_PROMPT.request(PROMPTS, query=answer.topic.title, answer=answer.text, nuggets=batch)
            sent += sum(len(message["content"]) for message in question.messages) if batch else 0
    assert before.expected.characters == sent
    job = ended(launched(before))
    assert job.estimate["calls"] == before.expected.calls == job.calls == len(server.begun()) == 11
    assert plan(judge, long).expected == (0, 0, 0)


def test_only_chosen_topics_are_asked_and_those_without_finished_nuggets_are_not(
    finished: NuggetBank,
    endpoint,  # noqa: F811
):
    server = endpoint()
    judge = make_judge(finished.condition.campaign, server.base_url)
    [t1, t2] = judge.campaign.topics.order_by("qid")
    with pytest.raises(JobError, match=r"None of the topics has finished nuggets under ManualNuggets\."):
        plan(judge, finished.condition, [t2])
    job = assigned(judge, finished.condition)
    assert {unit.topic for unit in job.units.all()} == {t1}
    assert len(server.begun()) == 2
    assert {sheet.bank for sheet in AnswerSheet.objects.all()} == {finished}
    with pytest.raises(JobError, match=r"There is nothing to do: all of it is done under Manual/Auto by j\."):
        launched(plan(judge, finished.condition))
    assert Job.objects.count() == 1


@pytest.mark.parametrize(
    ("knob", "reason"),
    [
        ("garbage", "Wrong answer 4 times to the question of assignment: "),
        ("short", "Wrong answer 4 times to the question of assignment: "),
        ("wrong_label", "Wrong answer 4 times to the question of assignment: "),
        ("failure", "500"),
    ],
)
def test_what_fails_is_missing_until_it_is_retried(finished: NuggetBank, endpoint, knob: str, reason: str):  # noqa: F811
    server = endpoint(**{f"{knob}_rate": 1.0})
    judge = make_judge(finished.condition.campaign, server.base_url)
    job = ended(launched(plan(judge, finished.condition)))
    assert (job.units_done, job.units_failed) == (0, 2)
    assert all(reason in unit.error for unit in job.units.all())
    condition = job.condition
    assert labels(condition) == {
        ("team.one", "t1"): [],
        ("team.two", "t1"): [],
        ("team.empty", "t1"): ["not_support"] * 3,
    }
    assert sorted(condition.answer_sheets.values_list("to_do", flat=True)) == [0, 3, 3]
    assert not LabelEvent.objects.exists()
    change_judge(judge=judge, settings={"base_url": endpoint().base_url}, acting_user=None)
    actions.retry_failed(job=job, acting_user=None)
    job = ended(job)
    assert (job.units_done, job.units_failed) == (2, 0)
    assert set(condition.answer_sheets.values_list("to_do", flat=True)) == {0}
    assert labels(condition)["team.two", "t1"] == ["not_support"] * 3
    assert labels(condition)["team.one", "t1"] == ["not_support", "support", "partial_support"]


def test_units_that_are_never_reached_have_their_sheets(finished: NuggetBank, endpoint):  # noqa: F811
    judge = make_judge(finished.condition.campaign, endpoint().base_url)
    todo = plan(judge, finished.condition)
    job = launch(todo, most_calls=1, most_cost=None, acting_user=None, to_workers=False)
    assert sorted(AnswerSheet.objects.values_list("answer__run__tag", "to_do")) == [
        ("team.empty", 0),
        ("team.one", 3),
        ("team.two", 3),
    ]
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.units_done) == (Job.State.HALTED, 1)
    assert sorted(AnswerSheet.objects.values_list("to_do", flat=True)) == [0, 0, 3]
    actions.cancel(job=job, acting_user=None)  # type: ignore[arg-type]
    rest = assigned(judge, finished.condition)
    assert (rest.condition, rest.units_total, rest.calls) == (job.condition, 1, 1)
    assert set(AnswerSheet.objects.values_list("to_do", flat=True)) == {0}


@pytest.mark.parametrize("structured", [False, True])
def test_when_much_goes_wrong_the_labels_are_those_of_a_clean_run(long: Condition, endpoint, structured: bool):  # noqa: F811
    clean = assigned(make_judge(long.campaign, endpoint().base_url, structured=structured), long)
    rates = dict.fromkeys(("failure_rate", "garbage_rate", "short_rate", "wrong_label_rate", "broken_rate"), 0.08)
    server = endpoint(**rates, fenced_rate=0.0 if structured else 0.2, seed=11)
    job = assigned(make_judge(long.campaign, server.base_url, name="messy", structured=structured), long)
    assert len({call["what"] for call in server.ended()} - {"ok"}) >= 2
    assert job.units_done == 5
    assert labels(job.condition) == labels(clean.condition)


def reopened(bank: NuggetBank, olga: Person) -> None:
    """Give a bank back, and let its maker reword one nugget, drop another and add one."""
    nugget_actions.reopen_bank(bank, reason="look again", acting_user=olga)
    do(bank, nugget_actions.reword_nugget, uid=A, text="dogs bark")
    do(bank, nugget_actions.delete_nugget, uid=UUID(int=103))
    fill(bank, (NEW, "cats purr", "okay"))


def test_a_bank_finished_again_has_only_its_changed_nuggets_asked_again(
    finished: NuggetBank,
    nugget_ids: dict[UUID, int],
    olga: Person,
    endpoint,  # noqa: F811
):
    server = endpoint()
    judge = make_judge(finished.condition.campaign, server.base_url)
    job = assigned(judge, finished.condition)
    assert len(server.begun()) == 2
    reopened(finished, olga)
    with pytest.raises(JobError, match="None of the topics has finished nuggets"):
        plan(judge, finished.condition)
    do(finished, nugget_actions.finish_bank)
    stale = AnswerSheet.objects.get(answer__run__tag="team.one")
    assert (stale.to_do, stale.stale) == (2, {str(nugget_ids[A]): "not_support"})
    again = assigned(judge, finished.condition)
    assert (again.condition, again.units_total) == (job.condition, 2)
    new = asked(server) - Counter(call["request"] for call in server.begun()[:2])
    assert new == Counter(
        request_of(judge, answer_of(tag, "t1"), ["dogs bark", "cats purr"]) for tag in ("team.one", "team.two")
    )
    assert labels(job.condition) == {
        ("team.one", "t1"): ["not_support", "support", "support"],
        ("team.two", "t1"): ["support", "not_support", "not_support"],
        ("team.empty", "t1"): ["not_support"] * 3,
    }
    for sheet in AnswerSheet.objects.all():
        assert (sheet.to_do, sheet.stale, sheet.edition) == (0, {}, 2)
    verbs = LabelEvent.objects.filter(sheet=stale).values_list("verb", "job", "edition")
    assert list(dict.fromkeys(verbs)) == [
        ("labelled", job.pk, 1),
        ("nuggets changed", None, 2),
        ("labelled", again.pk, 2),
    ]


def test_while_a_bank_is_being_changed_its_units_fail_with_that_reason(
    finished: NuggetBank,
    olga: Person,
    endpoint,  # noqa: F811
):
    server = endpoint()
    job = launched(plan(make_judge(finished.condition.campaign, server.base_url), finished.condition))
    nugget_actions.reopen_bank(finished, reason="look again", acting_user=olga)
    job = ended(job)
    assert {unit.error for unit in job.units.all()} == {"The nuggets of t1 are being changed."}
    assert (job.units_failed, server.begun()) == (2, [])
    do(finished, nugget_actions.finish_bank)
    actions.retry_failed(job=job, acting_user=None)
    assert ended(job).units_done == 2


def test_labels_of_texts_that_were_changed_while_the_model_was_asked_are_not_stored(
    finished: NuggetBank,
    olga: Person,
    endpoint,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
):
    server = endpoint()
    judge = make_judge(finished.condition.campaign, server.base_url, concurrency=1)
    job = launched(plan(judge, finished.condition))
    answers: list[str] = []
    carry_out = AutoAssign.carry_out

    async def slowly(self: AutoAssign, work: Any, ask: Any) -> Any:
        """Let the bank be finished again after the first answer has come, and before it is stored."""
        labelled = await carry_out(self, work, ask)
        answers.append(work.answer)
        if len(answers) == 1:
            await asyncio.to_thread(in_thread, lambda: (reopened(finished, olga), finish(finished)))
        return labelled

    monkeypatch.setattr(AutoAssign, "carry_out", slowly)
    job = ended(job)
    failed = job.units.filter(state=Unit.State.FAILED)
    assert {unit.error for unit in failed} == {"The nuggets of t1 were changed while the model was asked about them."}
    assert job.units_failed == len(failed) >= 1
    for unit in failed:
        sheet = AnswerSheet.objects.get(answer=unit.answer_id)
        assert (sheet.labels, sheet.to_do, sheet.edition) == ({}, 3, 2)
    actions.retry_failed(job=job, acting_user=None)
    job = ended(job)
    assert job.units_failed == 0
    assert labels(job.condition)["team.one", "t1"] == ["not_support", "support", "support"]


def finish(bank: NuggetBank) -> None:
    do(bank, nugget_actions.finish_bank)


def in_thread(work: Callable[[], Any]) -> None:
    try:
        work()
    finally:
        connection.close()


def test_a_bank_that_is_finished_again_during_the_launch_takes_the_new_sheets_along(
    finished: NuggetBank,
    olga: Person,
):
    judge = make_judge(finished.condition.campaign)
    condition = plan(judge, finished.condition).condition
    condition.save()
    again = Thread(target=in_thread, args=[lambda: (reopened(finished, olga), finish(finished))])
    with transaction.atomic():
        assert add_lacking_sheets(condition, [finished.topic]) == 3
        again.start()
        again.join(1)
    again.join()
    finished.refresh_from_db()
    assert finished.edition == 2
    assert set(AnswerSheet.objects.values_list("edition", flat=True)) == {2}


def test_what_was_stored_stands_whoever_comes_later(finished: NuggetBank, nugget_ids: dict[UUID, int]):
    job = launched(plan(make_judge(finished.condition.campaign), finished.condition))
    unit = job.units.get(answer=answer_of("team.two", "t1"))
    sheet = AnswerSheet.objects.get(answer__run__tag="team.two")
    [first, second, third] = nugget_ids.values()

    def store(edition: int, labels: dict[int, str]) -> None:
        with transaction.atomic():
            store_labels(job, [(unit, Labelled(sheet.pk, edition, labels))])

    store(1, {first: "support"})
    store(1, {first: "not_support", second: "partial_support"})
    store(1, {first: "not_support", second: "not_support"})
    sheet.refresh_from_db()
    assert sheet.labels == {str(first): "support", str(second): "partial_support"}
    assert (sheet.to_do, sheet.version, sheet.revisions.count()) == (1, 2, 2)
    with pytest.raises(UnitFailure, match=r"The nuggets of t1 were changed while"):
        store(2, {third: "support"})


def test_nuggets_that_somebody_else_finished_since_are_work_for_another_job(
    finished: NuggetBank,
    ben: Person,
    endpoint,  # noqa: F811
):
    judge = make_judge(finished.condition.campaign, endpoint().base_url)
    job = launched(plan(judge, finished.condition))
    NuggetBank.objects.filter(pk=finished.pk).update(state=NuggetBank.State.OPEN)
    others = NuggetBank.objects.create(
        topic=finished.topic, condition=finished.condition, maker=judge.judge, state="finished", edition=1
    )
    nugget = others.nuggets.create(uid=A, text="dogs bark", made_by=judge.judge)
    BankEdition.objects.create(
        bank=others, edition=1, version=1, nuggets=[{"uid": nugget.name, "text": "dogs bark", "importance": "vital"}]
    )
    job = ended(job)
    assert {unit.error for unit in job.units.all()} == {"Others finished nuggets of t1 since: launch a job for these."}
    again = assigned(judge, finished.condition)
    assert (again.condition, again.units_done) == (job.condition, 2)
    assert {(sheet.bank, sheet.to_do) for sheet in AnswerSheet.objects.filter(by_rule=False)} == {
        (finished, 3),
        (others, 0),
    }


def test_answers_that_came_since_are_added_and_empty_ones_need_no_unit(
    finished: NuggetBank,
    import_file,
    endpoint,  # noqa: F811
):
    server = endpoint()
    judge = make_judge(finished.condition.campaign, server.base_url)
    job = assigned(judge, finished.condition)
    import_file(judge.campaign, "runs", run_file("team.none", {"t1": []}))
    again = assigned(judge, finished.condition)
    assert (again.units_total, again.estimate["calls"], again.percent) == (0, 0, 100)
    assert AnswerSheet.objects.get(condition=job.condition, answer__run__tag="team.none").by_rule
    import_file(judge.campaign, "runs", run_file("team.more", {"t1": ["Cats purr when content."]}))
    assert assigned(judge, finished.condition).units_done == 1
    assert len(server.begun()) == 3
    assert labels(job.condition)["team.more", "t1"] == ["not_support", "support", "partial_support"]


def test_texts_that_only_labels_refer_to_are_not_asked(finished: NuggetBank):
    one = answer_of("team.one", "t1")
    Answer.objects.create(
        run=one.run, topic=one.topic, form="text", content=[], words=3, apart=True, import_record=one.import_record
    )
    job = launched(plan(make_judge(finished.condition.campaign), finished.condition))
    assert {sheet.answer.apart for sheet in AnswerSheet.objects.all()} == {False}
    assert job.units_total == 2


def test_a_text_that_gave_way_to_the_runs_own_answer_is_asked_no_more(finished: NuggetBank):
    judge = make_judge(finished.condition.campaign)
    first = launched(plan(judge, finished.condition))
    assert first.units_total == 2
    Job.objects.filter(pk=first.pk).update(state=Job.State.CANCELLED)
    Answer.objects.filter(pk=answer_of("team.one", "t1").pk).update(apart=True)
    again = plan(judge, finished.condition)
    assert launched(again).units_total == 1


def test_another_sample_is_another_condition(finished: NuggetBank, endpoint):  # noqa: F811
    server = endpoint()
    judge = make_judge(finished.condition.campaign, server.base_url)
    first, second = (assigned(judge, finished.condition, replicate=number) for number in (0, 2))
    assert [job.condition.name for job in (first, second)] == ["Manual/Auto by j", "Manual/Auto by j #2"]
    assert second.condition.identity == first.condition.identity.replace("; protocol=", "; replicate=2; protocol=")
    assert [job.condition.answer_sheets.count() for job in (first, second)] == [3, 3]
    assert set(asked(server).values()) == {2}  # nothing from the ledger


def test_a_condition_is_told_apart_by_its_nuggets(finished: NuggetBank, long: Condition, endpoint):  # noqa: F811
    judge = make_judge(long.campaign, endpoint().base_url)
    on_long, on_manual = assigned(judge, long).condition, assigned(judge, finished.condition).condition
    assert (on_long.name, on_manual.name) == ("Long/Auto by j", "Manual/Auto by j")
    assert (on_long.nuggets, on_long.method, on_long.kind) == (long, "AutoAssign", "assignment")
    assert on_long.identity != on_manual.identity
    assert on_long.identity.startswith("kind=assignment; nuggets=Long; creation=imported; ")
    assert "; method=AutoAssign; judge=j; prompts=" in on_long.identity
    judge.judge.refresh_from_db()
    assert judge.judge.is_rehearsal
    assert Condition.objects.get(pk=on_long.pk).is_rehearsed
    assert not Condition.objects.get(pk=long.pk).is_rehearsed


def test_it_needs_nuggets_and_other_kinds_take_none(finished: NuggetBank):
    judge = make_judge(finished.condition.campaign)
    source = judge.campaign.qrels_sources.get()
    with pytest.raises(JobError, match=r"AutoAssign needs nuggets: name their condition\."):
        plan_job(kind=AUTO, judge=judge, name="", qrels_source=source, topics=[finished.topic])
    other = plan_job(
        kind=job_kind_named("AutoNuggets"),
        judge=judge,
        name="",
        qrels_source=source,
        topics=[finished.topic],
        nuggets=finished.condition,
        replicate=3,
    )
    assert (other.condition.nuggets, other.condition.name) == (None, "AutoNuggets by j on NIST #3")
    assert plan(judge, finished.condition, qrels_source=source).condition.qrels_source is None
    judge.judge.name = "j" * 200
    long_name = plan(judge, finished.condition, replicate=12).condition.name
    assert (len(long_name), long_name[:17], long_name[-6:]) == (120, "Manual/Auto by jj", "jj #12")


def test_it_asks_as_few_queries_for_many_answers(long: Condition, import_file):
    judge = make_judge(long.campaign)
    condition = plan(judge, long).condition
    condition.save()
    topics = list(judge.campaign.topics.order_by("qid"))

    def queries(work: Callable[[], Any]) -> int:
        with CaptureQueriesContext(connection) as asked:
            work()
        return len(asked)

    def counts() -> list[int]:
        again = Condition.objects.select_related("campaign", "nuggets", "protocol").get(pk=condition.pk)
        expected = queries(lambda: AUTO.expected(again, topics, PROMPTS))
        with transaction.atomic():
            begin = queries(lambda: AUTO.begin(again, topics))
        units: list[tuple[int, int, str]] = []
        asked = queries(lambda: units.extend(AUTO.units(again, topics)))
        job = Job.objects.create(campaign=judge.campaign, kind="AutoAssign", condition=again, judge=judge)
        Unit.objects.bulk_create(
            Unit(job=job, topic_id=topic, answer_id=answer, item=key) for topic, answer, key in units
        )
        claimed = list(job.units.select_related("topic"))
        prepare = queries(lambda: AUTO.prepare(job, claimed))
        named = queries(lambda: AUTO.unit_names(claimed))
        again_expected = queries(lambda: AUTO.expected(again, topics, PROMPTS))
        return [len(claimed), expected, begin, asked, prepare, named, again_expected]

    few = counts()
    for number in range(8):
        lines = run_file(f"more{number}", {"t1": [f"Answer {number}."], "t2": [f"Other {number}."]})
        assert import_file(judge.campaign, "runs", lines, name=f"more{number}").state == "done"
    many = counts()
    assert (few[0], many[0]) == (5, 21)
    assert [few[1] + 1, *few[2:]] == many[1:], "the first time there is no label yet that could be read"
    assert max(many[1:]) <= 11


def test_the_form_and_the_command_launch_it_and_failures_name_runs(
    finished: NuggetBank,
    olga: Person,
    endpoint,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
):
    campaign = finished.condition.campaign
    server = endpoint(garbage_rate=1.0)
    judge = make_judge(campaign, server.base_url)
    client = client_of(olga)
    form = {"kind": "AutoAssign", "judge": judge.pk, "replicate": "0", "name": "", "topics": ""}
    page = client.post("/campaigns/study/jobs/new/", form).content.decode()
    assert "AutoAssign needs nuggets: name their condition." in page
    form["nuggets"] = finished.condition.pk
    page = client.post("/campaigns/study/jobs/new/", form).content.decode()
    assert "Creates the condition <bdi>Manual/Auto by j</bdi>" in page
    assert not AnswerSheet.objects.exists()
    client.post("/campaigns/study/jobs/new/", form | {"launch": "1"})
    job = Job.objects.get()
    assert (job.condition.name, job.units_total) == ("Manual/Auto by j", 2)
    Run.objects.filter(tag="team.two").update(tag="<b>two")
    ended(job)
    page = client.get(f"/campaigns/study/jobs/{job.pk}/").content.decode()
    assert (
        page.count('<td class="any"><bdi>team.one</bdi>') == page.count('<td class="any"><bdi>&lt;b&gt;two</bdi>') == 1
    )
    assert "for example <bdi>t1 team.one</bdi>" in page
    with pytest.raises(CommandError, match=r"The campaign has no nuggets called nothing\."):
        call_command("run_auto_assign", "study", judge="j", nuggets="nothing")
    change_judge(judge=judge, settings={"base_url": endpoint().base_url}, acting_user=None)
    call_command("run_auto_assign", "study", judge="j", nuggets="ManualNuggets", replicate=1, here=True)
    assert "About 2 calls, " in capsys.readouterr().out
    assert Job.objects.latest("pk").condition.name == "Manual/Auto by j #1"
    assert set(labels(Job.objects.latest("pk").condition)) == {
        ("team.one", "t1"),
        ("<b>two", "t1"),
        ("team.empty", "t1"),
    }
