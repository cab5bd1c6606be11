"""The automatic judge as whole jobs over real HTTP: what is asked, what is stored, what is missing where it fails."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import CONTROL, Answer, Campaign, Condition, Import, Run, Topic
from assessor.llm import actions, gateway, runner
from assessor.llm.actions import JobError, Plan, change_judge, launch, plan_job
from assessor.llm.job_kind import UnitFailure, job_kind_named
from assessor.llm.models import Job, ModelJudge, Unit
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import TOKENS_LABEL
from assessor.work.actions import give_tasks
from assessor.work.models import Task
from support.actions import MOVED, add_lacking_sheets, create_support, resolve, store_labels
from support.auto_support import SUPPORT_PROMPT, Given, Support
from support.models import LabelEvent, SupportSheet
from tests.conftest import SEGMENTS, client_of
from tests.judging import last_change
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.endpoint import RunningEndpoint
from tests.llm.grading import make_judge
from tests.support import judging_helpers
from tests.work.conftest import at_once

pytestmark = pytest.mark.django_db(transaction=True)
SUPPORT = job_kind_named("Support")
PROMPTS = prompt_set("assay-1")
TEXTS = {str(segment["docid"]): str(segment["segment"]) for segment in SEGMENTS}
D4 = {"docid": "d4", "title": "Lions", "segment": "Lions roar at night."}

Sentences = list[tuple[str, list[str]]]  # each with the docids that it cites
# d4 is not loaded. Two runs have a sentence and its first citation in common.
RUNS: dict[str, dict[str, Sentences]] = {
    "team.one": {
        "t1": [
            ("Cats purr when content.", ["d1", "d2"]),
            ("Nothing is cited here.", []),
            ("Dogs bark, cats purr.", ["d1"]),
        ],
        "t2": [("Glass is melted.", ["d5"])],
    },
    "team.two": {"t1": [("Cats purr when content.", ["d1"]), ("Lions roar.", ["d4", "d3"]), ("Birds sing.", ["d3"])]},
    "team.empty": {"t1": []},
    "team.bare": {"t1": [("It cites nothing.", [])]},
}
# What the rehearsal endpoint says, by the words that sentence and passage share.
CLEAN = {
    ("team.one", "t1"): {"0.0": "full", "2.0": "partial"},
    ("team.one", "t2"): {"0.0": "full"},
    ("team.two", "t1"): {"0.0": "full", "2.0": "none"},
    ("team.empty", "t1"): {},
    ("team.bare", "t1"): {},
}
NOT_LOADED = "The text of d4 is not loaded."


def run_file(tag: str, answers: dict[str, Sentences]) -> list[dict[str, Any]]:
    """Return a run's lines."""
    lines = []
    for qid, sentences in answers.items():
        references = sorted({docid for _, docids in sentences for docid in docids})
        lines.append(
            {
                "run_id": tag,
                "topic_id": qid,
                "topic": qid,
                "references": references,
                "response_length": len(" ".join(text for text, _ in sentences).split()),
                "answer": [
                    {"text": text, "citations": [references.index(docid) for docid in docids]}
                    for text, docids in sentences
                ],
            }
        )
    return lines


@pytest.fixture
def cited(campaign: Campaign, import_file) -> Campaign:
    """The campaign with four runs."""
    for tag, answers in RUNS.items():
        assert import_file(campaign, "runs", run_file(tag, answers), name=tag).state == "done"
    return campaign


def plan(judge: ModelJudge, topics: Sequence[Topic] | None = None, **options: Any) -> Plan:
    chosen = list(judge.campaign.topics.order_by("qid")) if topics is None else topics
    return plan_job(kind=SUPPORT, judge=judge, topics=chosen, **{"name": "", "qrels_source": None} | options)


def launched(plan: Plan, most_calls: int | None = None) -> Job:
    return launch(plan, most_calls=most_calls, most_cost=None, acting_user=None, to_workers=False)


def ended(job: Job, state: Job.State = Job.State.DONE) -> Job:
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == state
    return job


def judged(judge: ModelJudge, **options: Any) -> Job:
    return ended(launched(plan(judge, **options)))


def labels(condition: Condition) -> dict[tuple[str, str], dict[str, str]]:
    """Return what stands on the sheets, by run's tag and topic."""
    sheets = SupportSheet.objects.filter(condition=condition).select_related("answer__run", "answer__topic")
    return {(sheet.answer.run.tag, sheet.answer.topic.qid): sheet.labels for sheet in sheets}


def sheet_of(tag: str, qid: str = "t1") -> SupportSheet:
    return SupportSheet.objects.get(answer__run__tag=tag, answer__topic__qid=qid)


def stands(sheet: SupportSheet) -> tuple[list[str], list[str], int, dict[str, str]]:
    """Return what is asked, what of it is unresolved, how much is to do, and the labels."""
    sheet.refresh_from_db()
    return sheet.asked, sheet.unresolved, sheet.to_do, sheet.labels


def request_of(judge: ModelJudge, sentence: str, docid: str) -> str:
    """Return the request, as the endpoint logs it, that asks about a sentence and a segment."""
    question = SUPPORT_PROMPT.request(PROMPTS, sentence=sentence, passage=TEXTS[docid])
    return gateway.request_hash(gateway.request_body(question, question.messages, judge.judge.parameters))


def asked(server: RunningEndpoint) -> Counter[str]:
    assert {call["prompt"] for call in server.begun()} <= {"support"}
    return Counter(call["request"] for call in server.begun())


def items(job: Job, **of: Any) -> list[str]:
    """Return what organizers read of a job's units."""
    units = list(job.units.filter(**of).order_by("pk"))
    names = SUPPORT.unit_names(units)
    return [names[unit.pk] for unit in units]


def in_order(job: Job) -> list[tuple[Unit, str]]:
    """Return a job's units in order, each as somebody's who said something else of every one."""
    return [(unit, ("full", "partial", "none")[number % 3]) for number, unit in enumerate(job.units.order_by("pk"))]


def given(results: Iterable[tuple[Unit, str]]) -> list[tuple[Unit, Given]]:
    """Return results as a job has them, with the docid that each label is about."""
    found = []
    for unit, label in results:
        found.append((unit, Given(judging_helpers.cited(unit.answer, [unit.item])[unit.item], label)))
    return found


def store(job: Job, results: Sequence[tuple[Unit, str]]) -> None:
    about = given(results)
    with transaction.atomic():
        SUPPORT.store(job, about)


# --- What is asked


def test_what_waits_for_its_label_opens_as_the_job_goes(cited: Campaign, anna: Person, endpoint):  # noqa: F811
    """Also on a topic that was signed off: nobody has to give it again."""
    job = launched(plan(make_judge(cited, endpoint().base_url)))
    beside = create_support(campaign=cited, name="beside", shown=job.condition, acting_user=None)
    given_to = {"campaign": cited, "condition": beside, "person": anna, "acting_user": None}
    [task] = give_tasks(topics=[cited.topics.get(qid="t1")], **given_to)
    assert (task.done, task.total) == (0, 0)
    Task.objects.filter(pk=task.pk).update(state=Task.State.FINISHED)
    ended(job)
    task.refresh_from_db()
    assert (task.state, task.done, task.total) == ("open", 0, 4)
    sheets = SupportSheet.objects.filter(task=task).select_related("answer__run")
    waiting = [(one.answer.run.tag, one.waiting, one.unresolved, one.to_do) for one in sheets]
    assert sorted(waiting) == [
        ("team.bare", [], [], 0),
        ("team.empty", [], [], 0),
        ("team.one", [], [], 2),
        ("team.two", [], ["1.0"], 2),
    ]


@pytest.mark.parametrize("structured", [False, True])
def test_the_first_citation_of_each_sentence_is_asked_once(cited: Campaign, endpoint, structured: bool):  # noqa: F811
    server = endpoint()
    judge = make_judge(cited, server.base_url, structured=structured, concurrency=4)
    job = judged(judge)
    # The sentence that two runs have in common is one request.
    wanted = [("Cats purr when content.", "d1"), ("Dogs bark, cats purr.", "d1"), ("Birds sing.", "d3")]
    wanted.append(("Glass is melted.", "d5"))
    assert asked(server) == Counter(request_of(judge, sentence, docid) for sentence, docid in wanted)
    assert (job.units_total, job.units_done, job.units_failed) == (6, 5, 1)
    assert (job.calls, job.answered_from_ledger) == (4, 1)
    assert labels(job.condition) == CLEAN
    assert [stands(sheet_of(tag))[:3] for tag in ("team.one", "team.two", "team.empty", "team.bare")] == [
        (["0.0", "2.0"], [], 0),
        (["0.0", "1.0", "2.0"], ["1.0"], 0),
        ([], [], 0),
        ([], [], 0),
    ]
    assert {(sheet.judge, sheet.task, sheet.import_record) for sheet in SupportSheet.objects.all()} == {
        (judge.judge, None, None)
    }
    told = LabelEvent.objects.filter(sheet=sheet_of("team.one"))
    assert {(one.verb, one.judge, one.job, one.task) for one in told} == {("labelled", judge.judge, job, None)}
    changes = {key: change for one in told for key, change in one.changes_by_item.items()}
    assert changes == {"0.0": {"label": [None, "full"]}, "2.0": {"label": [None, "partial"]}}
    assert sorted({one.version for one in told}) == list(range(1, sheet_of("team.one").version + 1))
    assert {sheet.version for sheet in SupportSheet.objects.filter(total=0, without_text=0)} == {0}


def test_provenance_and_rehearsal_stand_with_the_condition(cited: Campaign, endpoint):  # noqa: F811
    judge = make_judge(cited, endpoint().base_url)
    condition = judged(judge).condition
    prompt = sha256(PROMPTS.texts["support"].encode()).hexdigest()
    assert condition.prompts == {"support": prompt}
    assert (condition.name, condition.kind, condition.method) == ("Support by j", "support", "support automatic")
    assert condition.identity == (
        f"kind=support; method=support automatic; judge=j; prompts=support:{prompt[:12]}; protocol=trec-2024 v1"
    )
    assert Condition.objects.get(pk=condition.pk).is_rehearsed
    assert not condition.is_blind()


def test_two_citations_a_sentence_where_the_protocol_says_so(cited: Campaign, olga: Person, endpoint):  # noqa: F811
    judge = make_judge(cited, endpoint().base_url)
    first = judged(judge)
    change_protocol(campaign=cited, settings={"citations_per_sentence": 2}, acting_user=olga)
    second = judged(judge, name="both")
    assert first.condition != second.condition
    assert labels(first.condition) == CLEAN
    # "Cats purr when content." by d2, "Cats have many voices.": one word of three; "Lions roar." by d3, "Dogs bark.".
    assert labels(second.condition) == CLEAN | {
        ("team.one", "t1"): {"0.0": "full", "0.1": "none", "2.0": "partial"},
        ("team.two", "t1"): {"0.0": "full", "1.1": "none", "2.0": "none"},
    }
    assert (second.calls, second.answered_from_ledger, second.units_failed) == (2, 5, 1)


def test_what_a_sentence_cites_twice_is_asked_once(cited: Campaign, import_file, olga: Person):
    change_protocol(campaign=cited, settings={"citations_per_sentence": 2}, acting_user=olga)
    lines = run_file("team.twice", {"t1": [("Cats purr.", ["d1", "d1", "d2"])]})
    assert import_file(cited, "runs", lines).state == "done"
    launched(plan(make_judge(cited)))
    assert sheet_of("team.twice").asked == ["0.0", "0.2"]


def test_the_estimate_is_what_is_sent_and_saves_nothing(cited: Campaign, endpoint):  # noqa: F811
    server = endpoint()
    judge = make_judge(cited, server.base_url)
    before = plan(judge)
    assert not SupportSheet.objects.exists()
    assert not Condition.objects.filter(kind="support").exists()
    assert not Job.objects.exists()
    pairs = [
        *[("Cats purr when content.", "d1")] * 2,
        *(("Dogs bark, cats purr.", "d1"), ("Birds sing.", "d3"), ("Glass is melted.", "d5")),
    ]
    sent = [
        SUPPORT_PROMPT.request(PROMPTS, sentence=sentence, passage=TEXTS[docid]).messages for sentence, docid in pairs
    ]
    characters = sum(len(message["content"]) for messages in sent for message in messages)
    assert before.expected == (5, characters, 5 * TOKENS_LABEL)
    ended(launched(before))
    assert plan(judge).expected == (0, 0, 0)  # what failed has no text, so it takes no call


def test_only_chosen_topics_are_asked(cited: Campaign, endpoint):  # noqa: F811
    judge = make_judge(cited, endpoint().base_url)
    t2 = cited.topics.get(qid="t2")
    job = judged(judge, topics=[t2])
    assert labels(job.condition) == {("team.one", "t2"): {"0.0": "full"}}
    with pytest.raises(JobError, match=r"There is nothing to do: all of it is done under Support by j\."):
        launched(plan(judge, [t2]))
    assert judged(judge).units_done == 4


def test_without_answers_there_is_no_job(campaign: Campaign):
    with pytest.raises(JobError, match=r"No run answers any of the topics\."):
        plan(make_judge(campaign))
    assert not Condition.objects.filter(kind="support").exists()


def test_control_runs_and_texts_that_came_with_labels_are_not_judged(cited: Campaign, endpoint):  # noqa: F811
    Run.objects.filter(tag="team.one").update(task=CONTROL)
    bare, empty = (Answer.objects.get(run__tag=tag) for tag in ("team.bare", "team.empty"))
    Answer.objects.filter(pk=bare.pk).update(form=Answer.Form.TEXT)  # its sentences may still come
    Answer.objects.filter(pk=empty.pk).update(apart=True)
    job = judged(make_judge(cited, endpoint().base_url))
    assert labels(job.condition) == {("team.two", "t1"): CLEAN["team.two", "t1"]}
    assert items(job) == ["team.two, sentence 1, d1", "team.two, sentence 2, d4", "team.two, sentence 3, d3"]


def test_a_text_that_gave_way_to_the_runs_own_answer_is_asked_no_more(cited: Campaign):
    judge = make_judge(cited)
    first = launched(plan(judge))
    Job.objects.filter(pk=first.pk).update(state=Job.State.CANCELLED)
    Answer.objects.filter(run__tag="team.two").update(apart=True)
    assert items(launched(plan(judge))) == [
        "team.one, sentence 1, d1",
        "team.one, sentence 3, d1",
        "team.one, sentence 1, d5",
    ]


def test_another_sample_is_another_condition(cited: Campaign, endpoint):  # noqa: F811
    server = endpoint()
    judge = make_judge(cited, server.base_url)
    first, second = (judged(judge, replicate=number) for number in (0, 2))
    assert [job.condition.name for job in (first, second)] == ["Support by j", "Support by j #2"]
    assert [job.condition.support_sheets.count() for job in (first, second)] == [5, 5]
    assert set(asked(server).values()) == {2}  # nothing from the ledger


# --- What goes wrong


@pytest.mark.parametrize(
    ("knob", "reason"),
    [
        ("garbage", "Wrong answer 4 times to the question of support: "),
        ("short", "Wrong answer 4 times to the question of support: "),
        ("wrong_label", "Wrong answer 4 times to the question of support: "),
        ("failure", "500"),
        ("broken", "tried 6 times"),
    ],
)
def test_what_fails_is_missing_until_it_is_retried(cited: Campaign, endpoint, knob: str, reason: str):  # noqa: F811
    judge = make_judge(cited, endpoint(**{f"{knob}_rate": 1.0}).base_url)
    job = ended(launched(plan(judge)))
    assert (job.units_done, job.units_failed) == (0, 6)
    errors = list(job.units.exclude(error=NOT_LOADED).values_list("error", flat=True))
    assert len(errors) == 5
    assert all(reason in error for error in errors)
    assert set(map(str, labels(job.condition).values())) == {"{}"}
    assert sorted(SupportSheet.objects.values_list("to_do", flat=True)) == [0, 0, 1, 2, 2]
    assert not LabelEvent.objects.exists()
    change_judge(judge=judge, settings={"base_url": endpoint().base_url}, acting_user=None)
    actions.retry_failed(job=job, acting_user=None)
    job = ended(job)
    assert (job.units_done, job.units_failed) == (5, 1)
    assert labels(job.condition) == CLEAN


@pytest.mark.parametrize("structured", [False, True])
def test_when_much_goes_wrong_the_labels_are_those_of_a_clean_run(cited: Campaign, endpoint, structured: bool):  # noqa: F811
    rates = dict.fromkeys(("failure_rate", "garbage_rate", "short_rate", "wrong_label_rate", "broken_rate"), 0.1)
    server = endpoint(**rates, fenced_rate=0.3, seed=5)
    job = judged(make_judge(cited, server.base_url, name="messy", structured=structured))
    assert len({call["what"] for call in server.ended()} - {"ok"}) >= 2
    assert labels(job.condition) == CLEAN


def test_what_is_never_reached_is_done_by_the_next_job_alone(cited: Campaign, endpoint):  # noqa: F811
    server = endpoint()
    judge = make_judge(cited, server.base_url, concurrency=1)
    job = ended(launched(plan(judge), most_calls=2), Job.State.HALTED)
    assert len(labels(job.condition)) == 5
    done = job.units_done
    assert 2 <= done < 5
    assert sum(SupportSheet.objects.values_list("to_do", flat=True)) == 5 - done
    actions.cancel(job=job, acting_user=None)  # type: ignore[arg-type]
    rest = judged(judge)
    assert (rest.condition, rest.units_total, rest.calls) == (job.condition, 6 - done, 2)
    assert set(asked(server).values()) == {1}
    assert labels(job.condition) == CLEAN


def test_answers_that_came_since_are_added_and_what_cites_nothing_needs_no_unit(
    cited: Campaign,
    import_file,
    endpoint,  # noqa: F811
):
    import_file(cited, "segments", [D4])
    judge = make_judge(cited, endpoint().base_url)
    job = judged(judge)
    import_file(cited, "runs", run_file("team.none", {"t1": [("No source.", [])]}))
    again = judged(judge)
    assert (again.units_total, again.estimate["calls"], again.percent) == (0, 0, 100)
    assert stands(sheet_of("team.none")) == ([], [], 0, {})
    import_file(cited, "runs", run_file("team.more", {"t1": [("Voices.", ["d2"])]}))
    again = judged(judge)
    assert (again.condition, items(again)) == (job.condition, ["team.more, sentence 1, d2"])
    assert labels(job.condition)["team.more", "t1"] == {"0.0": "full"}


# --- What is cited without its text


def test_what_has_no_text_fails_and_is_judged_once_it_is_loaded_and_retried(cited: Campaign, import_file, endpoint):  # noqa: F811
    server = endpoint()
    job = judged(make_judge(cited, server.base_url))
    [failed] = job.units.filter(state=Unit.State.FAILED)
    assert (failed.error, items(job, pk=failed.pk)) == (NOT_LOADED, ["team.two, sentence 2, d4"])
    calls = len(server.begun())
    actions.retry_failed(job=job, acting_user=None)
    job = ended(job)
    assert (job.units_failed, len(server.begun())) == (1, calls)
    assert import_file(cited, "segments", [D4]).state == "done"
    actions.retry_failed(job=job, acting_user=None)
    job = ended(job)
    assert (job.units_done, job.units_failed, len(server.begun())) == (6, 0, calls + 1)
    sheet = sheet_of("team.two")
    assert stands(sheet) == (["0.0", "1.0", "2.0"], [], 0, {"0.0": "full", "2.0": "none", "1.0": "full"})
    told = [(one.verb, one.judge_id, one.job_id, one.changes_by_item) for one in sheet.revisions.all()]
    assert told[-2:] == [
        ("text loaded", None, job.pk, {}),
        ("labelled", job.judge.judge_id, job.pk, {"1.0": {"label": [None, "full"]}}),
    ]


@pytest.mark.parametrize("how", ["retried", "launched again"])
def test_what_was_resolved_before_is_judged_by_either_way(cited: Campaign, import_file, endpoint, how: str):  # noqa: F811
    judge = make_judge(cited, endpoint().base_url)
    job = judged(judge)
    assert resolve(job.condition) == 0
    import_file(cited, "segments", [D4])
    assert resolve(job.condition) == 1
    assert stands(sheet_of("team.two"))[1:3] == ([], 1)
    assert resolve(job.condition) == 0
    if how == "retried":
        actions.retry_failed(job=job, acting_user=None)
        ended(job)
    else:
        assert plan(judge).expected.calls == 1
        again = judged(judge)
        assert (again.units_total, again.units_done) == (1, 1)
    assert stands(sheet_of("team.two"))[1:] == ([], 0, {"0.0": "full", "2.0": "none", "1.0": "full"})
    verbs = list(sheet_of("team.two").revisions.values_list("verb", flat=True))
    assert verbs.count("text loaded") == 1


def test_another_launch_resolves_and_asks_what_was_loaded_since_alone(cited: Campaign, import_file, endpoint):  # noqa: F811
    server = endpoint()
    judge = make_judge(cited, server.base_url)
    job = judged(judge)
    still = judged(judge)  # as nothing was loaded, the unit fails again, without a call
    assert (still.units_total, still.units_failed, still.calls) == (1, 1, 0)
    calls = len(server.begun())
    import_file(cited, "segments", [D4])
    again = launched(plan(judge))
    assert stands(sheet_of("team.two"))[1:3] == ([], 1)
    assert items(ended(again)) == ["team.two, sentence 2, d4"]
    assert (again.units_done, len(server.begun())) == (1, calls + 1)
    assert labels(job.condition)["team.two", "t1"] == {"0.0": "full", "2.0": "none", "1.0": "full"}


# --- Writing


def test_what_was_stored_stands_whoever_comes_later(cited: Campaign):
    job = launched(plan(make_judge(cited)))
    sheet = sheet_of("team.one")
    first, third = (job.units.get(answer=sheet.answer_id, item=key) for key in ("0.0", "2.0"))
    store(job, [(first, "full")])
    store(job, [(first, "none"), (third, "partial")])
    store(job, [(first, "none"), (third, "none")])
    assert stands(sheet) == (["0.0", "2.0"], [], 0, {"0.0": "full", "2.0": "partial"})
    assert (sheet.version, sheet.revisions.values("version").distinct().count()) == (2, 2)


def test_labels_of_one_answer_are_one_revision(cited: Campaign):
    job = launched(plan(make_judge(cited)))
    store(job, in_order(job))
    assert [sheet_of(tag).version for tag in ("team.one", "team.two")] == [1, 2]  # one more where a text was lacking
    assert sheet_of("team.one").labels == {"0.0": "full", "2.0": "partial"}
    assert set(last_change(sheet_of("team.two"))) == {"0.0", "1.0", "2.0"}


def test_workers_at_citations_of_one_answer_lose_none_of_each_others_labels(cited: Campaign, import_file):
    lines = run_file("team.long", {"t1": [(f"Sentence {number}.", ["d1"]) for number in range(24)]})
    assert import_file(cited, "runs", lines).state == "done"
    job = launched(plan(make_judge(cited)))
    results = in_order(job)

    def work(part: int) -> Callable[[], None]:
        return lambda: [store(job, [result]) for result in results[part::6]] and None

    assert at_once([work(part) for part in range(6)]) == [None] * 6
    sheet = sheet_of("team.long")
    said = {unit.item: label for unit, label in results if unit.answer_id == sheet.answer_id}
    assert len(said) == 24
    assert stands(sheet)[2:] == (0, said)
    assert (sheet.version, sheet.revisions.values("version").distinct().count()) == (24, 24)
    assert sum(SupportSheet.objects.values_list("to_do", flat=True)) == 0


def test_who_has_the_job_and_who_has_the_sheet_do_not_wait_for_each_other(cited: Campaign):
    """A worker whose judge is limited counts its requests on the job first, and then has units of a sheet stored."""
    job = launched(plan(make_judge(cited)))
    sheet = sheet_of("team.one")
    first, third = ((unit, "full") for unit in job.units.filter(answer=sheet.answer_id).order_by("pk"))

    def limited() -> None:
        with transaction.atomic():
            Job.objects.select_for_update(no_key=True).get(pk=job.pk)
            time.sleep(0.6)
            SUPPORT.store(job, given([first]))

    def unlimited() -> None:
        time.sleep(0.2)
        with transaction.atomic():
            SUPPORT.store(job, given([third]))
            Job.objects.filter(pk=job.pk).update(units_done=1)

    assert at_once([limited, unlimited]) == [None, None]
    assert stands(sheet)[2:] == (0, {"0.0": "full", "2.0": "full"})


def test_two_runners_of_a_limited_judge_do_each_unit_once(cited: Campaign, import_file, endpoint):  # noqa: F811
    lines = run_file("team.long", {"t1": [(f"Sentence {number}, cats.", ["d1"]) for number in range(40)]})
    assert import_file(cited, "runs", lines).state == "done"
    server = endpoint(latency=0.01)
    judge = make_judge(cited, server.base_url, concurrency=4, requests_per_minute=60_000)
    job = launched(plan(judge))
    assert at_once([lambda: runner.run_job(job.pk)] * 2) == [None, None]
    job.refresh_from_db()
    assert (job.state, job.units_done, job.units_failed) == (Job.State.DONE, 45, 1)
    assert len(labels(job.condition)["team.long", "t1"]) == 40
    assert sheet_of("team.long").to_do == 0
    assert set(asked(server).values()) == {1}


@pytest.mark.parametrize("first", ["labels", "texts"])
def test_labels_and_texts_that_come_at_the_same_moment_both_stand(cited: Campaign, import_file, first: str):
    """A job and an organizer's button write on the same sheet."""
    job = launched(plan(make_judge(cited)))
    import_file(cited, "segments", [D4])
    sheet = sheet_of("team.two")
    units = [(unit, "full") for unit in job.units.filter(answer=sheet.answer_id)]

    def work(what: str) -> Callable[[], None]:
        def do() -> None:
            time.sleep(0 if what == first else 0.2)
            with transaction.atomic():
                SUPPORT.store(job, given(units)) if what == "labels" else resolve(job.condition)
                time.sleep(0.6 if what == first else 0)

        return do

    assert at_once([work("labels"), work("texts")]) == [None, None]
    assert stands(sheet)[1:] == ([], 0, dict.fromkeys(["0.0", "1.0", "2.0"], "full"))
    assert list(sheet.revisions.values_list("verb", flat=True)).count("text loaded") == 1


def brought_by_a_run(campaign: Campaign, import_file: Callable[..., Import]) -> Callable[[], None]:
    """Load an answer by a support file, that cites d1; return what loads its run, where it cites d4 before that."""
    sentences = [{"sentenceID": 0, "text": "Cats purr.", "citations": [{"citationID": 0, "reference": "d1"}]}]
    line = {"topic_id": "t1", "run_id": "team.later", "sentences": sentences}
    line["sentences"][0]["citations"][0]["support"] = "2"
    assert import_file(campaign, "support", [line], condition="Theirs", by="people").state == "done"

    def bring() -> None:
        run = {"run_id": "team.later", "topic_id": "t1", "references": ["d4", "d1"]}
        run["answer"] = [{"text": "Cats purr.", "citations": [0, 1]}]
        assert import_file(campaign, "runs", [run]).state == "done"

    return bring


def test_a_label_goes_where_its_citation_is_now(cited: Campaign, import_file):
    """A run file comes while the model is asked."""
    change_protocol(campaign=cited, acting_user=None, settings={"citations_per_sentence": 2})
    bring = brought_by_a_run(cited, import_file)
    job = launched(plan(make_judge(cited)))
    sheet = SupportSheet.objects.get(condition=job.condition, answer__run__tag="team.later")
    results = given([(job.units.get(answer=sheet.answer_id, item="0.0"), "partial")])
    bring()
    with transaction.atomic():
        SUPPORT.store(job, results)
    assert stands(sheet) == (["0.0", "0.1"], ["0.0"], 0, {"0.1": "partial"})


def test_a_unit_whose_citation_is_elsewhere_asks_about_no_other_one(cited: Campaign, import_file):
    """A run file comes before the unit is taken up."""
    bring = brought_by_a_run(cited, import_file)
    job = launched(plan(make_judge(cited)))
    sheet = SupportSheet.objects.get(condition=job.condition, answer__run__tag="team.later")
    unit = job.units.get(answer=sheet.answer_id, item="0.0")
    bring()
    # The first citation is another one now, and what was the first is not judged any more.
    [work] = SUPPORT.prepare(job, [unit]).values()
    assert (type(work), str(work)) == (UnitFailure, NOT_LOADED)
    with transaction.atomic(), pytest.raises(UnitFailure, match="elsewhere"):
        SUPPORT.store(job, [(unit, Given("d1", "full"))])
    assert stands(sheet) == (["0.0"], ["0.0"], 0, {})
    Unit.objects.filter(pk=unit.pk).update(item="0.1")
    unit.refresh_from_db()
    [work] = SUPPORT.prepare(job, [unit]).values()
    assert (type(work), str(work)) == (UnitFailure, MOVED)


def test_it_asks_as_few_queries_for_many_answers(cited: Campaign, import_file):
    judge = make_judge(cited)
    condition = plan(judge).condition
    condition.save()
    topics = list(cited.topics.order_by("qid"))

    def queries(work: Callable[[], Any]) -> int:
        with CaptureQueriesContext(connection) as counted:
            work()
        return len(counted)

    def counts() -> list[int]:
        again = Condition.objects.select_related("campaign", "judge", "protocol").get(pk=condition.pk)
        expected = queries(lambda: SUPPORT.expected(again, topics, PROMPTS))
        with transaction.atomic():
            begin = queries(lambda: SUPPORT.begin(again, topics))
        units: list[tuple[int, int, str]] = []
        read = queries(lambda: units.extend(SUPPORT.units(again, topics)))
        job = Job.objects.create(campaign=cited, kind="Support", condition=again, judge=judge)
        Unit.objects.bulk_create(
            Unit(job=job, topic_id=topic, answer_id=answer, item=key) for topic, answer, key in units
        )
        claimed = list(job.units.select_related("topic"))
        prepare = queries(lambda: SUPPORT.prepare(job, claimed))
        named = queries(lambda: SUPPORT.unit_names(claimed))
        again_expected = queries(lambda: SUPPORT.expected(again, topics, PROMPTS))
        return [len(claimed), expected, begin, read, prepare, named, again_expected]

    def add(number: int) -> None:
        sentences = [(f"Two {number}.", ["d1", "d2"]), (f"More {number}.", ["d2"])]
        lines = run_file(f"more{number}", {"t1": sentences, "t2": sentences})
        assert import_file(cited, "runs", lines, name=f"more{number}").state == "done"

    assert counts()[0] == 6
    add(0)
    few = counts()
    for number in range(1, 9):
        add(number)
    many = counts()
    assert (few[0], many[0]) == (10, 42)
    assert few[1:] == many[1:]
    assert max(many[1:]) <= 19


# --- Pages and the command


def test_the_form_and_the_command_launch_it_and_failures_name_citations(
    cited: Campaign,
    olga: Person,
    anna: Person,
    endpoint,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
):
    judge = make_judge(cited, endpoint(garbage_rate=1.0).base_url)
    client = client_of(olga)
    form = {"kind": "Support", "judge": judge.pk, "replicate": "0", "name": "", "topics": "t1"}
    page = client.post("/campaigns/study/jobs/new/", form).content.decode()
    assert '<input type="hidden" name="kind" value="Support"' in page
    assert "Creates the condition <bdi>Support by j</bdi>" in page
    assert not SupportSheet.objects.exists()
    client.post("/campaigns/study/jobs/new/", form | {"launch": "1"})
    job = Job.objects.get()
    assert (job.condition.name, job.units_total) == ("Support by j", 5)
    Run.objects.filter(tag="team.two").update(tag="<b>two")
    ended(job)
    page = client.get(f"/campaigns/study/jobs/{job.pk}/").content.decode()
    assert page.count('<td class="any"><bdi>team.one, sentence 3, d1</bdi>') == 1
    assert page.count('<td class="any"><bdi>&lt;b&gt;two, sentence 2, d4</bdi>') == 1
    assert "for example <bdi>t1 team.one, sentence 1, d1</bdi>" in page
    assert NOT_LOADED in page
    for path in ("", "failures/"):
        assert client_of(anna).get(f"/campaigns/study/jobs/{job.pk}/{path}").status_code == 404
    with pytest.raises(CommandError, match=r"The campaign has no judge called nobody\."):
        call_command("run_support", "study", judge="nobody")
    change_judge(judge=judge, settings={"base_url": endpoint().base_url}, acting_user=None)
    call_command("run_support", "study", judge="j", estimate=True)
    assert SupportSheet.objects.count() == 4
    call_command("run_support", "study", judge="j", replicate=1, here=True)
    told = capsys.readouterr().out
    assert "About 5 calls, " in told
    assert f"1 failed: {NOT_LOADED} (such as t1 <b>two, sentence 2, d4)" in told
    again = Job.objects.latest("pk")
    assert again.condition.name == "Support by j #1"
    assert labels(again.condition)["<b>two", "t1"] == CLEAN["team.two", "t1"]


def test_sheets_are_made_in_the_transaction_of_the_launch(cited: Campaign):
    todo = plan(make_judge(cited))
    todo.condition.save()
    with transaction.atomic():
        assert add_lacking_sheets(todo.condition, todo.topics) == 5
        assert add_lacking_sheets(todo.condition, todo.topics) == 0
        transaction.set_rollback(True)
    assert not SupportSheet.objects.exists()


def test_a_label_without_its_sheet_is_an_error(cited: Campaign):
    job = launched(plan(make_judge(cited)))
    assert isinstance(SUPPORT, Support)
    with transaction.atomic(), pytest.raises(KeyError):
        store_labels(job, {0: {(0, "d1"): "full"}})
