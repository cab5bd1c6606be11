"""Relevance judgments: topic, column 2, docid, grade, separated by blanks."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assessor.collection.formats import values
from assessor.collection.formats.lines import Line
from assessor.collection.formats.report import Report


class GradeRecord(NamedTuple):
    """A grade of a file; a request's judgment has no column 2."""

    line: Line
    qid: str
    iteration: str | None
    docid: str
    grade: int


def read_qrels(lines: Iterable[Line], report: Report, max_grade: int) -> Iterator[GradeRecord]:
    """Yield grades from 0 to max_grade."""
    for line in lines:
        columns = line.text.split()
        if len(columns) != 4:
            report.error(line.number, "", f"{len(columns)} fields: {line.text}", "four fields separated by blanks")
            continue
        qid = values.identifier(columns[0], "topic", line, report)
        iteration = values.identifier(columns[1], "column 2", line, report)
        docid = values.identifier(columns[2], "docid", line, report)
        grade = values.grade(columns[3], "grade", line, report, max_grade)
        if qid and iteration and docid and grade is not None:
            yield GradeRecord(line, qid, iteration, docid, grade)


def write_qrels(rows: Iterable[tuple[str, str, str, int]]) -> Iterator[str]:
    """Yield the lines of (topic id, column 2, docid, grade)."""
    for qid, iteration, docid, grade in rows:
        yield f"{qid} {iteration} {docid} {grade}\n"
