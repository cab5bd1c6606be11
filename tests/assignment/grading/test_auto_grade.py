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
from assignment.grading.auto_grade import GRADING_PROMPT, combined_grade
from assignment.grading.label_kind import GRADING
from tests.assignment.conftest import finished, run_file  # noqa: F401
from tests.assignment.grading.conftest import HEAL, KITTENS, WHEN
from tests.conftest import Importer
from tests.judging import all_judged, asked, change, counters, give, given, judged
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.support.test_own_texts import run_with_documents

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


PARAGRAPHS = "Kittens purr.\n\n  \nPurring heals bones.\nCats purr."


@pytest.fixture
def citing(questions: Condition, import_file: Importer) -> Condition:
    """A fourth run: an answer with a document of two paragraphs twice and another once, and one that cites nothing."""
    segment = {"docid": "d9", "segment": PARAGRAPHS}
    assert import_file(questions.campaign, "segments", [segment]).state == "done"
    [of_t1] = run_file("team.cites", {"t1": ["Cats purr when content.", "Kittens do.", "So there."]})
    [of_t2] = run_file("team.cites", {"t2": ["Glass is melted."]})
    of_t1["references"] = ["d1", "d9"]
    for sentence, cited in zip(of_t1["answer"], ([1, 0], [1], []), strict=True):
        sentence["citations"] = cited
    of_t2["answer"][0]["citations"] = []
    assert import_file(questions.campaign, "runs", [of_t1, of_t2], name="team.cites").state == "done"
    return questions


def graded_text(questions: Condition, url: str, olga: Person, text: str) -> Job:
    change_protocol(campaign=questions.campaign, settings={"grade_text": text}, acting_user=olga)
    questions.campaign.refresh_from_db()
    return graded(make_judge(questions.campaign, url, text[:10]), questions)


def test_paragraphs_of_what_an_answer_cites_are_graded_and_the_best_counts(citing: Condition, endpoint, olga):  # noqa: F811
    url = endpoint().base_url
    of_answers = found(graded_text(citing, url, olga, "response"))
    job = graded_text(citing, url, olga, "document_paragraphs")
    assert (job.state, job.units_done, job.units_failed) == ("done", 6, 0)
    of_documents = found(job)
    # d1 says when, the paragraphs of d9 the rest.
    assert of_documents["team.cites", "t1"] == ["2", "5", "5"]
    assert of_documents["team.one", "t1"] == of_documents["team.two", "t1"] == ["0", "5", "2"]
    assert of_documents["team.cites", "t2"] == ["0"]  # it cites nothing
    assert of_documents["team.empty", "t1"] == ["0", "0", "0"]
    assert (of_answers["team.cites", "t1"], of_answers["team.one", "t1"]) == (["0", "5", "5"], ["2", "5", "2"])
    product = found(graded_text(citing, url, olga, "response_and_document_paragraphs"))
    assert product["team.cites", "t1"] == ["0", "5", "5"]
    assert product["team.one", "t1"] == ["0", "5", "0"]  # 2 * 0, 5 * 5, 2 * 2
    assert product["team.two", "t1"] == ["0", "0", "0"]
    identities = Condition.objects.filter(method="AutoGrade").values_list("identity", flat=True)
    assert len(set(identities)) == 3


def test_a_job_on_paragraphs_is_expected_to_ask_about_each(citing: Condition, endpoint, olga):  # noqa: F811
    url = endpoint().base_url
    alone = planned(make_judge(citing.campaign, url, "a"), citing).expected
    change_protocol(campaign=citing.campaign, settings={"grade_text": "document_paragraphs"}, acting_user=olga)
    citing.campaign.refresh_from_db()
    documents = planned(make_judge(citing.campaign, url, "b"), citing).expected
    change_protocol(
        campaign=citing.campaign, settings={"grade_text": "response_and_document_paragraphs"}, acting_user=olga
    )
    citing.campaign.refresh_from_db()
    both = planned(make_judge(citing.campaign, url, "c"), citing).expected
    # Three questions on t1 to three answers, and one on t2; d1 is one paragraph, d9 two.
    assert (alone.calls, documents.calls) == (3 * 3 + 3, 3 * (1 + 1 + 3) + 2)
    assert both.calls == alone.calls + documents.calls
    assert both.characters == alone.characters + documents.characters


def test_an_answer_whose_document_has_no_text_gets_no_grade(
    questions: Condition,
    endpoint,  # noqa: F811
    olga,
    import_file: Importer,
):
    [lacking] = run_file("team.lacks", {"t1": ["Cats purr when content."]})
    lacking["references"] = ["d4"]
    assert import_file(questions.campaign, "runs", [lacking], name="team.lacks").state == "done"
    job = graded_text(questions, endpoint().base_url, olga, "response_and_document_paragraphs")
    assert job.units_failed == 1
    assert job.units.get(state="failed").error == "The text of d4 is not loaded."
    assert found(job)["team.lacks", "t1"] == []


def test_an_answer_without_its_runs_file_gets_no_grade_for_what_it_cites(
    questions: Condition,
    endpoint,  # noqa: F811
    olga,
    import_file: Importer,
):
    """Its text came with grades: that it cites nothing is not known."""
    lines = [
        {"run_id": "team.text", "query_id": "t1", "question": one["question"], "passage": "Cats.", "grade": 3}
        for one in (HEAL, WHEN, KITTENS)
    ]
    told = {"condition": "Theirs", "by": "people", "nuggets": "Questions"}
    done = import_file(questions.campaign, "question_grades", lines, **told)
    assert done.state == "done", done.report
    job = graded_text(questions, endpoint().base_url, olga, "document_paragraphs")
    assert job.units.get(state="failed").error == "What team.text cites on t1 is not known: upload the run's file."
    assert found(job)["team.text", "t1"] == []


def test_a_text_by_which_answers_were_graded_is_not_replaced(
    questions: Condition,
    endpoint,  # noqa: F811
    olga,
    import_file: Importer,
):
    campaign = questions.campaign
    record = run_with_documents("team.own", "t1", None)
    assert import_file(campaign, "runs", [record], name="team.own").state == "done"
    graded(make_judge(campaign, endpoint().base_url, "r"), questions)  # by the answers: no text stands behind these
    own = run_with_documents("team.own", "t1", {"d1": "Another text."})
    later = run_with_documents("team.late", "t1", {"d1": "Another text."})
    assert graded_text(questions, endpoint().base_url, olga, "document_paragraphs").units_failed == 0
    refused = import_file(campaign, "runs", [own], name="team.own", document_texts="own")
    assert refused.state == "refused"
    [told] = [one for one in refused.report["errors"] if one["field"] == "documents"]
    assert told["expected"] == "the loaded text: citations of the run were judged by it already"
    assert import_file(campaign, "runs", [later], name="team.late", document_texts="own").state == "done"


@pytest.mark.parametrize(
    ("documents", "answer", "grade"),
    [(5, None, "5"), (0, None, "0"), (5, 5, "5"), (4, 5, "4"), (4, 4, "3"), (5, 3, "3"), (3, 3, "1"), (2, 2, "0")],
)
def test_a_product_counts_by_whole_fives(documents: int, answer: int | None, grade: str):
    """A question is covered from 4 on where the product is 20 or more, as in PrefNugget."""
    assert combined_grade(documents, answer) == grade


def test_a_reply_without_a_grade_is_asked_again_and_never_0(questions: Condition, endpoint):  # noqa: F811
    judge = make_judge(questions.campaign, endpoint(wrong_label_rate=1).base_url)
    job = graded(judge, questions)
    lists = 2  # asked together, each again three times
    assert (job.units_done, job.calls) == (0, 4 * lists * 4)
    assert {tag for (tag, _), grades in found(job).items() if grades} == {"team.empty"}


def test_a_job_that_is_launched_again_asks_anew_for_what_was_no_grade(questions: Condition, endpoint):  # noqa: F811
    judge = make_judge(questions.campaign, endpoint(wrong_label_rate=1).base_url)
    assert graded(judge, questions).units_failed == 4
    ModelJudge.objects.filter(pk=judge.pk).update(base_url=endpoint().base_url)
    judge.refresh_from_db()
    again = graded(judge, questions)
    assert (again.units_done, again.units_failed, again.calls) == (4, 0, 8)
    assert all(found(again).values())


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
    with pytest.raises(JobError, match=r"Question grading needs question nuggets, but .* has nuggets"):
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
