"""Grades of questions in files: what comes in goes out equal, and what is no grade is refused."""

import json
from typing import Any

import pytest
from django.core.management import call_command

from assessor.campaigns.models import Campaign, Condition, Import
from assessor.scores.cache import condition_scores
from assignment.grading.exports import grade_lines
from assignment.models import Assignment
from nuggets.questions.formats import question_id
from tests.assignment.conftest import sheet_of
from tests.conftest import Importer
from tests.judging import give, label_all

TEXTS = {("team.one", "t1"): "Cats purr to heal. They also purr when content.", ("team.two", "t1"): "Dogs bark."}
QUESTIONS = ("What does purring heal?", "When do cats purr?", "Do kittens purr?")
SAME_TEXT = "the text of line 1: a run has one answer to a topic"
FILE = {"condition": "Graded", "by": "model", "nuggets": "Questions"}


def line(grade: Any = 4, question: str = QUESTIONS[0], run_id: str = "team.one", **more: Any) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "query_id": "t1",
        "nugget_id": question_id(question),
        "question": question,
        "passage": TEXTS[run_id, "t1"],
        "doc_id": None,
        "paragraph_idx": None,
        "grade": grade,
        "reasoning": None,
        "confidence": None,
        "addressed_quote": None,
    } | more


def lines(*grades: int, run_id: str = "team.one") -> list[dict[str, Any]]:
    return [line(grade, question, run_id) for grade, question in zip(grades, QUESTIONS, strict=True)]


def exported(campaign: Campaign) -> list[dict[str, Any]]:
    return [json.loads(text) for text in grade_lines(campaign.conditions.get(name="Graded"))]


def test_what_comes_in_goes_out_equal(questions: Condition, import_file: Importer):
    first, second, third = lines(5, 0, 3)
    told = {"reasoning": "It says “heal”.", "confidence": 0.75, "addressed_quote": "to heal", "tokens": [1, 2]}
    records = [
        first | told,
        second | {"nugget_id": "q2", "paragraph_idx": 0},
        third,
        *lines(0, 0, 0, run_id="team.two"),
    ]
    done = import_file(questions.campaign, "question_grades", records, **FILE)
    assert done.state == Import.State.DONE, done.report
    assert done.report["counts"] == {"lines": 6, "conditions added": 1, "sheets added": 2, "labels added": 6}
    assert exported(questions.campaign) == records
    condition = questions.campaign.conditions.get(name="Graded")
    assert (condition.kind, condition.method, condition.nuggets) == ("grading", "imported", questions)
    found = condition_scores(condition)
    assert found.scores[:, 0, :5].tolist() == [[1 / 3, 1, 8 / 3, 5, 1], [0, 0, 0, 0, 0]]
    again = import_file(questions.campaign, "question_grades", records, **FILE)
    assert (again.state, again.report["counts"]) == ("done", {"lines": 6, "sheets already there": 2})


def test_questions_come_in_any_order_and_by_command(questions: Condition, tmp_path):
    path = tmp_path / "nugget-grades.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in lines(5, 0, 3)[::-1]))
    options = {"condition": "Graded", "by": "model", "nuggets": "Questions"}
    call_command("import_question_grades", "study", str(path), **options)
    assert exported(questions.campaign) == lines(5, 0, 3)
    out = tmp_path / "out.jsonl"
    call_command("export_question_grades", "study", condition="Graded", output=str(out))
    assert [json.loads(text) for text in out.read_text().splitlines()] == lines(5, 0, 3)


@pytest.mark.parametrize("grade", [6, -1, "high", "4", True, 4.0, None, [4]])
def test_what_is_no_grade_is_refused(questions: Condition, import_file: Importer, grade: Any):
    records = [*lines(5, 0, 3)[:2], line(grade, QUESTIONS[2])]
    done = import_file(questions.campaign, "question_grades", records, **FILE)
    assert done.state == "refused"
    error = done.report["errors"][0]
    assert (error["line"], error["field"], error["expected"]) == (3, "grade", "a whole number from 0 to 5")
    assert error["remedy"] == "Leave the line out where there is no grade: a missing one is not 0."
    assert not Assignment.objects.exists()
    assert not questions.campaign.conditions.filter(name="Graded").exists()


def test_a_line_without_a_grade_is_refused(questions: Condition, import_file: Importer):
    record = {key: value for key, value in line().items() if key != "grade"}
    done = import_file(questions.campaign, "question_grades", [record], **FILE)
    [error] = done.report["errors"]
    assert (done.state, error["line"], error["field"]) == ("refused", 1, "grade")


@pytest.mark.parametrize(
    ("records", "field", "expected"),
    [
        ([*lines(5, 0, 3), line(4, QUESTIONS[1])], "nuggets[3].text", "one of the nuggets of t1 under Questions"),
        (lines(5, 0, 3)[:2], "nuggets", "all of the nuggets of t1 under Questions"),
        ([*lines(5, 0, 3)[:2], line(3, "Do dogs purr?")], "nuggets", "all of the nuggets of t1 under Questions"),
        (
            [line(), line(3, QUESTIONS[1], passage="Else.")],
            "passage",
            "the text of line 1: a run has one answer to a topic",
        ),
        ([line(query_id="t9")], "qid", "a topic of the campaign; load the topics first"),
        (
            [*lines(5, 0, 3), *lines(0, 0, 0, run_id="team.two"), *lines(5, 0, 3)],
            "run_id",
            "each once; it stands on line 1 already",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    questions: Condition, import_file: Importer, records: list[dict[str, Any]], field: str, expected: str
):
    done = import_file(questions.campaign, "question_grades", records, **FILE)
    assert done.state == "refused"
    assert (field, expected) in [(error["field"], error["expected"]) for error in done.report["errors"]]


def test_the_questions_come_first(answered: Campaign, import_file: Importer):
    done = import_file(answered, "question_grades", lines(5, 0, 3), **FILE)
    assert done.state == "refused"
    error = done.report["errors"][0]
    assert (error["line"], error["field"], error["found"]) == (0, "nuggets", "Questions")
    assert error["remedy"].startswith("Import the questions first")


def test_what_has_no_grade_has_no_line(by_people: Condition, topic, anna, as_anna):
    task = give(by_people, topic, anna)
    label_all(as_anna, sheet_of(task, "team.one"), "2")
    found = [json.loads(text) for text in grade_lines(by_people)]
    of_empty = [{**line(0, question), "run_id": "team.empty", "passage": ""} for question in QUESTIONS]
    assert found == [*of_empty, *lines(2, 2, 2)]


def test_an_answer_has_no_more_lines_than_can_be_held(questions: Condition, import_file):
    records = [line(3, f"Question {number}?") for number in range(1_001)]
    done = import_file(questions.campaign, "question_grades", records, **FILE)
    found = "more than 1,000 lines of team.one on t1"
    [error] = done.report["errors"]
    assert (error["line"], error["field"], error["found"]) == (1_001, "run_id", found)
    assert done.state == "refused"
