"""The field's files in a notebook: read_file(), and modules with the readers and writers of each form."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from assessor.formats import qrels, retrieval, run_list, runs, segments, topics
from assessor.formats.lines import SourceFile
from assessor.formats.report import Report, Unreadable
from assessor.preference import formats as preferences
from assignment import formats as assignments
from assignment.argue import formats as argue_judgments
from assignment.grading import formats as question_grades
from nuggets import formats as nuggets
from nuggets.questions import formats as questions
from support import formats as support

__all__ = [
    "argue_judgments",
    "assignments",
    "nuggets",
    "preferences",
    "qrels",
    "question_grades",
    "questions",
    "read_file",
    "retrieval",
    "run_list",
    "runs",
    "segments",
    "support",
    "topics",
]

Record = TypeVar("Record")


def read_file(reader: Callable[..., Iterable[Record]], path: str | PathLike[str], **options: Any) -> list[Record]:
    """Return the records of a file, plain or gzip; options are the reader's.

    Raises ValueError with what is wrong, by line, where the file is not of the reader's form: nothing is left out.
    """
    file = Path(path)
    report = Report(file.name)
    records: list[Record] = []
    with suppress(Unreadable):  # the report says why
        records.extend(reader(SourceFile(file).lines(report), report, **options))
    if report.error_count:
        raise ValueError("\n".join(problem.told(file.name) for problem in report.errors))
    return records
