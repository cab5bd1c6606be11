"""The field's files in a notebook: read_file(), and modules with the readers and writers of each form."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.resources.abc import Traversable
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
    "iter_file",
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
    _require_no_error(report)
    return records


def iter_file(reader: Callable[..., Iterable[Record]], file: Traversable, **options: Any) -> Iterator[Record]:
    """Yield the records of a file one after the other, also of one in a zip; options are the reader's.

    Raises ValueError behind the last record before what is wrong.
    """
    report = Report(file.name)
    with suppress(Unreadable):
        for record in reader(SourceFile(file).lines(report), report, **options):
            _require_no_error(report)
            yield record
    _require_no_error(report)


def _require_no_error(report: Report) -> None:
    if report.error_count:
        raise ValueError("\n".join(problem.told(report.file_name) for problem in report.errors))
