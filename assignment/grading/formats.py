"""Grades of questions as JSONL, in the form of PrefNugget's nugget-grades.jsonl: a line for each question of an answer.

{"run_id", "query_id", "nugget_id", "question", "passage", "doc_id", "paragraph_idx", "grade", "reasoning",
"confidence", "addressed_quote"}, where passage is the text that is graded: here the whole answer of a run.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import Any, NamedTuple

from assessor.formats import values
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assignment.formats import SheetRecord
from assignment.grading.measures import LARGEST
from nuggets.formats import NuggetRecord
from nuggets.questions.formats import question_id

_NEEDED = ("run_id", "query_id", "question", "passage", "grade")
# Written in this order, null where nothing is known.
_KEYS = (
    *("run_id", "query_id", "nugget_id", "question", "passage", "doc_id", "paragraph_idx"),
    *("grade", "reasoning", "confidence", "addressed_quote"),
)
_MOST = 1_000  # lines of an answer, which are held together
_NO_GRADE = "Leave the line out where there is no grade: a missing one is not 0."


class _Grade(NamedTuple):
    """A line; one in which something is wrong has the grade ""."""

    line: Line
    run_id: str
    qid: str
    question: NuggetRecord
    text: str
    grade: str


def read_grades(lines: Iterable[Line], report: Report) -> Iterator[SheetRecord]:
    """Yield the grades of each answer, whose lines are one after the other, where nothing is wrong in any of them.

    Further keys stay with the question.
    """
    read = (_grade(record, line, report) for line in lines if (record := values.json_object(line, report)) is not None)
    for (run_id, qid), group in groupby(filter(None, read), lambda one: (one.run_id, one.qid)):
        grades = list(islice(group, _MOST + 1))
        first = grades[0]
        if len(grades) > _MOST:
            found, expected = f"more than {_MOST:,} lines of {run_id} on {qid}", "a line for each question of an answer"
            raise report.fatal(grades[-1].line.number, "run_id", found, expected)
        if not all(one.grade for one in grades):
            continue
        for one in grades:
            if one.text != first.text:
                expected = f"the text of line {first.line.number}: a run has one answer to a topic"
                report.error(one.line.number, "passage", one.text, expected)
        questions, labels = [one.question for one in grades], [one.grade for one in grades]
        yield SheetRecord(first.line, qid, None, run_id, first.text, questions, labels, {}, {})


def _grade(record: dict[str, Any], line: Line, report: Report) -> _Grade | None:
    errors_before = report.error_count
    for key in _NEEDED:
        values.required(record, key, line, report)
    if not {"query_id", "run_id"} <= record.keys():
        return None
    qid = values.topic_id(record.pop("query_id"), "query_id", line, report)
    run_id = values.identifier(record.pop("run_id"), "run_id", line, report)
    if qid is None or run_id is None:
        return None
    wrong = _Grade(line, run_id, qid, NuggetRecord("", "", {}, None), "", "")
    if report.error_count > errors_before:
        return wrong
    question = values.text(record.pop("question"), "question", line, report)
    text = values.text(record.pop("passage"), "passage", line, report, may_be_blank=True)
    grade = record.pop("grade")
    if type(grade) is not int or not 0 <= grade <= LARGEST:
        report.error(line.number, "grade", grade, f"a whole number from 0 to {LARGEST}", remedy=_NO_GRADE)
    if record.pop("doc_id", None) is not None:
        report.error(line.number, "doc_id", "a document", "null: grades of passages of documents are not read yet")
    if report.error_count > errors_before or question is None or text is None:
        return wrong
    if record.get("nugget_id") == question_id(question):
        del record["nugget_id"]
    extras = {key: value for key, value in record.items() if value is not None or key not in _KEYS}
    return _Grade(line, run_id, qid, NuggetRecord(question, "", extras, None), text, str(grade))


def write_grade(run_id: str, qid: str, question: str, text: str, grade: str, further: Mapping[str, Any]) -> str:
    """Return a line. further: its further keys as they came, which overrule what else it says."""
    known = {
        "run_id": run_id,
        "query_id": qid,
        "nugget_id": question_id(question),
        "question": question,
        "passage": text,
        "grade": int(grade),
    }
    return values.to_json({**dict.fromkeys(_KEYS), **known, **further}) + "\n"
