"""AutoGrade as whole jobs over real HTTP."""

import pytest
from django.core.management import call_command

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Condition
from assessor.llm import replies, runner
from assessor.llm.actions import JobError, Plan, launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, ModelJudge
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import PromptRequest, PromptSet
from assignment.actions import create_manual_assign
from assignment.grading.auto_grade import GRADING_PROMPT
from assignment.grading.label_kind import GRADING
from tests.assignment.conftest import finished  # noqa: F401
from tests.judging import all_judged, asked, change, counters, give, given, judged
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge

pytestmark = pytest.mark.django_db(transaction=True)
AUTO = job_kind_named("AutoGrade")


def planned(judge: ModelJudge, nuggets: Condition, name: str = "") -> Plan:
    topics = list(judge.campaign.topics.order_by("qid"))
    return plan_job(kind=AUTO, judge=judge, topics=topics, nuggets=nuggets, name=name, qrels_source=None)


def graded(judge: ModelJudge, nuggets: Condition) -> Job:
    job = launch(planned(judge, nuggets), most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    runner.run_job(job.pk)
    job.refresh_from_db()
    return job


def found(job: Job) -> dict[tuple[str, str], list[str]]:
    return {(one.answer.run.tag, one.answer.topic.qid): list(given(one).values()) for one in all_judged(job.condition)}


def test_each_question_is_a_call_and_gets_its_grade(questions: Condition, endpoint):  # noqa: F811
    judge = make_judge(questions.campaign, endpoint().base_url, structured=True)
    job = graded(judge, questions)
    assert (job.state, job.units_total, job.units_done, job.calls) == ("done", 4, 4, 2 * 3 + 2)
    condition = job.condition
    assert (condition.kind, condition.method, condition.name) == ("grading", "AutoGrade", "Questions/Auto by j")
    assert found(job) == {
        ("team.one", "t1"): ["2", "5", "2"],
        ("team.two", "t1"): ["0", "0", "0"],
        ("team.empty", "t1"): ["0", "0", "0"],  # by rule
        ("team.one", "t2"): ["2"],
        ("team.two", "t2"): ["2"],
    }


def test_the_protocol_says_how_many_questions_are_in_a_call(questions: Condition, endpoint, olga):  # noqa: F811
    one = graded(make_judge(questions.campaign, endpoint().base_url), questions)
    change_protocol(campaign=questions.campaign, settings={"grade_batch": 10}, acting_user=olga)
    questions.campaign.refresh_from_db()
    ten = graded(make_judge(questions.campaign, endpoint().base_url, "k"), questions)
    assert (one.calls, ten.calls) == (8, 4)
    assert found(one) == found(ten)
    assert one.condition.identity != ten.condition.identity


def test_a_reply_without_a_grade_is_asked_again_and_never_0(questions: Condition, endpoint):  # noqa: F811
    judge = make_judge(questions.campaign, endpoint(wrong_label_rate=1).base_url)
    job = graded(judge, questions)
    assert (job.units_done, job.calls) == (0, 4 * 4)
    assert {tag for (tag, _), grades in found(job).items() if grades} == {"team.empty"}


def request(*questions: str, prompts: PromptSet | None = None) -> PromptRequest[list[str]]:
    prompts = prompts or prompt_set("assay-1")
    return GRADING_PROMPT.request(prompts, query="Zebra", answer="Cats purr.", nuggets=questions)


NO_GRADES = ["", "The text answers it well.", '["6"]', '["high"]', '["4", "4"]', '[""]', "[true]"]


@pytest.mark.parametrize(
    "reply",
    [
        *NO_GRADES,
        *('{"grade": 6}', '{"grade": -1}', '{"grade": 4.5}', '{"grade": null}', '{"grade": true}', '{"grade": ""}'),
        *('{"grade": 4, "grade": 0}', '{"grade": [4]}', "{}", "4 or 5", "I give it 4.", "The text has 4 words: 0"),
    ],
)
def test_what_is_no_grade_is_a_wrong_answer(reply: str):
    with pytest.raises(replies.WrongAnswer):
        request("Who purrs?").read(reply)


@pytest.mark.parametrize("reply", ['{"grade": 4}', '{"grade":"4"}', '```json\n{"grade": 4}\n```', "4", "Grade: **4**"])
def test_one_question_has_one_grade(reply: str):
    asked = request("Who purrs?")
    assert asked.read(reply) == ["4"]
    assert asked.schema == {
        "type": "object",
        "properties": {"grade": {"type": "integer", "enum": [0, 1, 2, 3, 4, 5]}},
        "required": ["grade"],
        "additionalProperties": False,
    }
    assert '{"grade": 4}' in asked.messages[-1]["content"]


@pytest.mark.parametrize("reply", ['["4", "0"]', "[4, 0]", '{"labels": ["4", "0"]}', "1. 4\n2. 0"])
def test_several_questions_have_a_list_of_grades(reply: str):
    asked = request("Who purrs?", "Who barks?")
    assert asked.read(reply) == ["4", "0"]
    labels = asked.schema["properties"]["labels"]
    assert (labels["items"]["enum"], labels["minItems"], labels["maxItems"]) == (["0", "1", "2", "3", "4", "5"], 2, 2)
    with pytest.raises(replies.WrongAnswer):
        asked.read('{"grade": 4}')


@pytest.mark.parametrize("reply", NO_GRADES)
def test_a_text_from_before_gets_a_list_for_one_question_too(reply: str):
    own = prompt_set("assay-1")
    before = PromptSet("before", {"grading": own.texts["grading"].partition("\n")[2]})
    asked = request("Who purrs?", prompts=before)
    assert before.hashes([GRADING_PROMPT]) != own.hashes([GRADING_PROMPT])
    labels = asked.schema["properties"]["labels"]
    assert (labels["items"]["enum"], labels["minItems"]) == (["0", "1", "2", "3", "4", "5"], 1)
    assert [asked.read(text) for text in ('["4"]', "[4]", '{"labels": ["0"]}')] == [["4"], ["4"], ["0"]]
    with pytest.raises(replies.WrongAnswer):
        asked.read(reply)


def test_a_condition_from_before_is_not_continued_with_another_prompt(
    questions: Condition,
    endpoint,  # noqa: F811
    monkeypatch,
):
    own = prompt_set("assay-1")
    before = own._replace(texts=own.texts | {"grading": own.texts["grading"].partition("\n")[2]})
    judge = make_judge(questions.campaign, endpoint().base_url)
    with monkeypatch.context() as patch:
        patch.setattr("assessor.llm.actions.prompt_set", lambda *_: before)
        plan = planned(judge, questions)
        job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    # What was launched before goes on with the text that it was launched with.
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.units_done) == ("done", 4)
    assert found(job)["team.one", "t1"] == ["2", "5", "2"]
    with monkeypatch.context() as patch:
        patch.setattr("assessor.llm.actions.prompt_set", lambda *_: before)
        with pytest.raises(JobError, match="nothing to do"):
            launch(planned(judge, questions), most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    new = planned(judge, questions, name="New").condition
    assert (new.pk, new.prompts) == (None, own.hashes([GRADING_PROMPT]))


def test_the_model_sees_no_gold_answer_and_no_query(questions: Condition):
    asked = request("Who purrs?")
    text = " ".join(message["content"] for message in asked.messages)
    assert ("Who purrs?" in text, "Cats purr." in text, "Zebra" in text) == (True, True, False)


def test_facts_are_not_graded_by_a_model(finished, questions: Condition):  # noqa: F811
    judge, topics = make_judge(questions.campaign), list(questions.campaign.topics.all())
    with pytest.raises(JobError, match=r"Question grading takes question nuggets, and .* has nuggets"):
        plan_job(kind=AUTO, judge=judge, topics=topics, nuggets=finished.condition, name="", qrels_source=None)


def test_the_command(questions: Condition, endpoint, capsys):  # noqa: F811
    make_judge(questions.campaign, endpoint().base_url)
    call_command("run_auto_grade", "study", judge="j", nuggets="Questions", here=True)
    assert questions.campaign.conditions.get(kind="grading").name == "Questions/Auto by j"


def test_what_waited_for_a_grade_opens_as_the_job_goes(questions: Condition, endpoint, anna: Person):  # noqa: F811
    judge = make_judge(questions.campaign, endpoint().base_url)
    shown = graded(judge, questions).condition
    one = judged(shown, "team.one", "t1")
    change(one, {asked(one)[0]: {"label": None}}, "take back", task_id=None)
    edited = create_manual_assign(nuggets=questions, name="Edited", acting_user=None, kind=GRADING, shown=shown)
    task = give(edited, questions.campaign.topics.get(qid="t1"), anna)
    assert counters(task) == ("open", 1, 2)
    job = graded(judge, questions)
    assert (job.condition, job.state, job.units_done) == (shown, "done", 1)
    assert counters(task) == ("open", 1, 3)
