"""Relevance judgments: topic, column 2, docid, grade, separated by blanks."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report, quantity


class GradeRecord(NamedTuple):
    """A grade of a file; a request's judgment has no column 2."""

    line: Line
    qid: str
    iteration: str | None
    docid: str
    grade: int


def begins_qrels(beginning: Beginning) -> bool:
    """Say whether a file begins with four columns, the last of them a number."""
    columns = beginning.columns
    return bool(columns) and all(len(one) == 4 and one[3].lstrip("-").isdigit() for one in columns)


def read_qrels(lines: Iterable[Line], report: Report, *, invalid_labels_missing: bool = False) -> Iterator[GradeRecord]:
    """Yield grades. What is none is an error, or its line is left out and counted."""
    for line in lines:
        columns = line.text.split()
        if values.is_header(columns, line, report):
            continue
        if len(columns) != 4:
            found = f"{quantity(len(columns), 'fields')}: {line.text}"
            report.error(line.number, "", found, "four fields separated by blanks")
            continue
        qid = values.identifier(columns[0], "topic", line, report)
        iteration = values.identifier(columns[1], "column 2", line, report)
        docid = values.identifier(columns[2], "docid", line, report)
        grade = values.grade(columns[3], "grade", line, report, invalid_labels_missing=invalid_labels_missing)
        if qid and iteration and docid and grade is not None:
            yield GradeRecord(line, qid, iteration, docid, grade)


def write_qrels(rows: Iterable[tuple[str, str, str, int]]) -> Iterator[str]:
    """Yield the lines of (topic id, column 2, docid, grade)."""
    for qid, iteration, docid, grade in rows:
        yield f"{qid} {iteration} {docid} {grade}\n"
