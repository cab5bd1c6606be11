"""AutoGrade as whole jobs over real HTTP."""

from typing import Any

import pytest
from django.core.management import call_command

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Condition
from assessor.llm import replies, runner
from assessor.llm.actions import JobError, launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, ModelJudge
from assessor.llm.prompt_sets import prompt_set
from assignment.actions import create_manual_assign
from assignment.grading.auto_grade import GRADING_PROMPT
from assignment.grading.label_kind import GRADING
from tests.assignment.conftest import finished  # noqa: F401
from tests.judging import all_judged, asked, change, counters, give, given, judged
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge

pytestmark = pytest.mark.django_db(transaction=True)
AUTO = job_kind_named("AutoGrade")


def graded(judge: ModelJudge, nuggets: Condition, **options: Any) -> Job:
    topics = list(judge.campaign.topics.order_by("qid"))
    plan = plan_job(kind=AUTO, judge=judge, topics=topics, nuggets=nuggets, name="", qrels_source=None, **options)
    job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
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


@pytest.mark.parametrize(
    "reply", ["", "The text answers it well.", '["6"]', '["high"]', '["4", "4"]', '[""]', "[true]"]
)
def test_what_is_no_grade_is_a_wrong_answer(reply: str):
    asked = GRADING_PROMPT.request(prompt_set("assay-1"), query="", answer="Cats purr.", nuggets=["Who purrs?"])
    with pytest.raises(replies.WrongAnswer):
        asked.read(reply)
    assert [asked.read(text) for text in ('["4"]', "[4]", '{"labels": ["0"]}')] == [["4"], ["4"], ["0"]]


def test_the_model_sees_no_gold_answer_and_no_query(questions: Condition):
    asked = GRADING_PROMPT.request(prompt_set("assay-1"), query="Zebra", answer="Cats purr.", nuggets=["Who purrs?"])
    text = " ".join(message["content"] for message in asked.messages)
    assert ("Who purrs?" in text, "Cats purr." in text, "Zebra" in text) == (True, True, False)
    labels = asked.schema["properties"]["labels"]
    assert (labels["items"]["enum"], labels["minItems"]) == (["0", "1", "2", "3", "4", "5"], 1)


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
