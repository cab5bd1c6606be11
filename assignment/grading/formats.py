"""Grades of questions as JSONL, in the form of PrefNugget's nugget-grades.jsonl: a line for each question of an answer.

{"run_id", "query_id", "nugget_id", "question", "passage", "doc_id", "paragraph_idx", "grade", "reasoning",
"confidence", "addressed_quote"}, where passage is the text that is graded: the whole answer of a run, or, where there
is a doc_id, a passage of that document, with or without a run that found it.
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

_NEEDED = ("query_id", "question", "passage", "grade")
# Written in this order, null where nothing is known.
_KEYS = (
    *("run_id", "query_id", "nugget_id", "question", "passage", "doc_id", "paragraph_idx"),
    *("grade", "reasoning", "confidence", "addressed_quote"),
)
_OF_PASSAGE = ("query_id", "doc_id", "passage")
_MOST = 1_000  # lines of an answer or passage, which are held together
_ONE_ANSWER = "a run has one answer to a topic"
_ONE_PASSAGE = "a document has one passage, or paragraph_idx tells them apart"
_NO_GRADE = "Leave the line out where there is no grade: a missing one is not 0."


class PassageRecord(NamedTuple):
    """A line of a file of passages that are to be graded."""

    line: Line
    qid: str
    docid: str
    text: str


def read_passages(lines: Iterable[Line], report: Report) -> Iterator[PassageRecord]:
    """Yield passages: {"query_id", "doc_id", "passage"}."""
    for line in lines:
        record = values.json_object(line, report)
        if record is None or not all(values.required(record, key, line, report) for key in _OF_PASSAGE):
            continue
        qid = values.topic_id(record["query_id"], "query_id", line, report)
        docid = values.identifier(record["doc_id"], "doc_id", line, report)
        text = values.text(record["passage"], "passage", line, report, may_be_blank=True)
        if further := record.keys() - {*_OF_PASSAGE}:
            report.error(line.number, min(further), "a further key", f"{', '.join(_OF_PASSAGE)} alone")
        elif qid is not None and docid is not None and text is not None:
            yield PassageRecord(line, qid, docid, text)


def write_passage(qid: str, docid: str, text: str) -> str:
    """Return a line of a file of passages."""
    return values.to_json(dict(zip(_OF_PASSAGE, (qid, docid, text), strict=True))) + "\n"


class _Grade(NamedTuple):
    """A line; one in which something is wrong has the grade ""."""

    line: Line
    run_id: str
    qid: str
    docid: str
    part: str  # of the document, as the line has it
    question: NuggetRecord
    text: str
    grade: str

    @property
    def about(self) -> tuple[str, str, str, str]:
        """What names the text that is graded."""
        return self.run_id, self.qid, self.docid, self.part


def read_grades(lines: Iterable[Line], report: Report) -> Iterator[SheetRecord]:
    """Yield the grades of each text, whose lines are one after the other, where nothing is wrong in any of them.

    A passage has a docid, and an empty run_id where no run is named. Further keys stay with the question.
    """
    read = (_grade(record, line, report) for line in lines if (record := values.json_object(line, report)) is not None)
    for (run_id, qid, docid, _), group in groupby(filter(None, read), lambda one: one.about):
        grades = list(islice(group, _MOST + 1))
        first = grades[0]
        if len(grades) > _MOST:
            found = f"more than {_MOST:,} lines of {docid or run_id} on {qid}"
            expected = f"a line for each question of {'a passage' if docid else 'an answer'}"
            raise report.fatal(grades[-1].line.number, "doc_id" if docid else "run_id", found, expected)
        if not all(one.grade for one in grades):
            continue
        for one in grades:
            if one.text != first.text:
                expected = f"the text of line {first.line.number}: {_ONE_PASSAGE if docid else _ONE_ANSWER}"
                report.error(one.line.number, "passage", one.text, expected)
        questions, labels = [one.question for one in grades], [one.grade for one in grades]
        yield SheetRecord(first.line, qid, None, run_id, first.text, questions, labels, {}, {}, docid)


def _grade(record: dict[str, Any], line: Line, report: Report) -> _Grade | None:
    errors_before = report.error_count
    for key in _NEEDED:
        values.required(record, key, line, report)
    docid: str | None = ""
    if record.get("doc_id") is not None:
        docid = values.identifier(record.pop("doc_id"), "doc_id", line, report)
    run_id: str | None = ""
    if docid == "" or record.get("run_id") is not None:  # a passage is one of the collection, whichever run found it
        values.required(record, "run_id", line, report)
        run_id = values.identifier(record.pop("run_id", None), "run_id", line, report) if "run_id" in record else None
    qid = values.topic_id(record.pop("query_id"), "query_id", line, report) if "query_id" in record else None
    if qid is None or run_id is None or docid is None:
        return None
    about = (line, run_id, qid, docid, values.to_json(record.get("paragraph_idx")) if docid else "")
    wrong = _Grade(*about, NuggetRecord("", "", {}, None), "", "")
    if report.error_count > errors_before:
        return wrong
    question = values.text(record.pop("question"), "question", line, report)
    text = values.text(record.pop("passage"), "passage", line, report, may_be_blank=True)
    grade = record.pop("grade")
    if type(grade) is not int or not 0 <= grade <= LARGEST:
        report.error(line.number, "grade", grade, f"a whole number from 0 to {LARGEST}", remedy=_NO_GRADE)
    if report.error_count > errors_before or question is None or text is None:
        return wrong
    if record.get("nugget_id") == question_id(question):
        del record["nugget_id"]
    extras = {key: value for key, value in record.items() if value is not None or key not in _KEYS}
    return _Grade(*about, NuggetRecord(question, "", extras, None), text, str(grade))


def grade_record(
    run_id: str | None, qid: str, docid: str, question: str, text: str, grade: str, further: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a line says. run_id: None for a passage of no run; docid: "" for an answer.

    further: its further keys as they came, which overrule what else it says.
    """
    known = {
        "run_id": run_id,
        "query_id": qid,
        "nugget_id": question_id(question),
        "question": question,
        "passage": text,
        "doc_id": docid or None,
        "grade": int(grade),
    }
    return {**dict.fromkeys(_KEYS), **known, **further}
