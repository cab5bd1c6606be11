"""What was exported as a data set, read as those of ir_datasets are: load() a folder, or a release's zip.

Each iterator reads its file line by line. Where there are several files of its kind, it takes the name of one.
"""

import zipfile
from collections.abc import Callable, Iterator
from importlib.resources.abc import Traversable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from assay.formats import assignments, iter_file, nuggets, qrels, retrieval, segments, support, topics
from assessor.formats.beginning import Beginning, read_beginning

__all__ = ["Assignment", "Dataset", "Doc", "Nugget", "Qrel", "Query", "ScoredDoc", "Support", "load"]


class Query(NamedTuple):
    query_id: str
    text: str


class Doc(NamedTuple):
    doc_id: str
    text: str


class Qrel(NamedTuple):
    """A grade; -1 and -2 say that it was not judged."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class ScoredDoc(NamedTuple):
    query_id: str
    doc_id: str
    score: float


class Nugget(NamedTuple):
    """A nugget of a finished list; importance: vital, okay or None."""

    query_id: str
    text: str
    importance: str | None


class Assignment(NamedTuple):
    """Whether a run's answer supports a nugget: support, partial_support, not_support or None."""

    query_id: str
    run_id: str
    nugget: str
    importance: str | None
    assignment: str | None


class Support(NamedTuple):
    """Whether a document supports a sentence that cites it: full, partial, none or None. sentence: its place from 0."""

    query_id: str
    run_id: str
    sentence: int
    doc_id: str
    support: str | None


# How files begin, by what there is an iterator of.
_BEGIN: dict[str, Callable[[Beginning], bool]] = {
    "queries": topics.begins_topics,
    "docs": segments.begins_segments,
    "qrels": qrels.begins_qrels,
    "scoreddocs": retrieval.begins_rankings,
    "nuggets": nuggets.begins_banks,
    "assignments": assignments.begins_sheets,
    "support": support.begins_sheets,
}


class Dataset:
    """Files, by what they are recognised as. files: their names."""

    def __init__(self, found: dict[str, dict[str, Traversable]]) -> None:
        self._found = found

    @property
    def files(self) -> dict[str, list[str]]:
        return {what: sorted(found) for what, found in self._found.items()}

    def queries_iter(self, file: str = "") -> Iterator[Query]:
        for record in self._read("queries", file, topics.read_topics):
            yield Query(record.qid, record.title)

    def docs_iter(self, file: str = "") -> Iterator[Doc]:
        for record in self._read("docs", file, segments.read_segments):
            yield Doc(record.docid, record.text)

    def qrels_iter(self, file: str = "") -> Iterator[Qrel]:
        for record in self._read("qrels", file, qrels.read_qrels):
            yield Qrel(record.qid, record.docid, record.grade, record.iteration)

    def scoreddocs_iter(self, file: str = "") -> Iterator[ScoredDoc]:
        for record in self._read("scoreddocs", file, retrieval.read_rankings):
            for ranked in record.ranked:
                yield ScoredDoc(record.qid, ranked.docid, float(ranked.score))

    def nuggets_iter(self, file: str = "") -> Iterator[Nugget]:
        for record in self._read("nuggets", file, nuggets.read_banks, invalid_labels_missing=True):
            for nugget in record.nuggets:
                yield Nugget(record.qid, nugget.text, nugget.importance or None)

    def assignments_iter(self, file: str = "") -> Iterator[Assignment]:
        for record in self._read("assignments", file, assignments.read_sheets, invalid_labels="missing"):
            for nugget, label in zip(record.nuggets, record.labels, strict=True):
                yield Assignment(record.qid, record.run_id, nugget.text, nugget.importance or None, label or None)

    def support_iter(self, file: str = "") -> Iterator[Support]:
        for record in self._read("support", file, support.read_sheets, invalid_labels_missing=True):
            for at, sentence in enumerate(record.sentences):
                for citation in sentence.citations:
                    yield Support(record.qid, record.run_id, at, citation.docid, citation.label or None)

    def _read(self, what: str, file: str, reader: Callable[..., Any], **options: Any) -> Iterator[Any]:
        found = self._found.get(what, {})
        if not file and len(found) == 1:
            [file] = found
        if file not in found:
            names = ", ".join(sorted(found)) or "there is none"
            raise ValueError(f"Name one of the files of {what}: {names}.")
        return iter_file(reader, found[file], **options)


def load(path: str | PathLike[str]) -> Dataset:
    """Return what a folder or a zip has: of each file, also in gzip, the beginning says what it holds."""
    folder: Traversable = Path(path)
    if folder.is_file():
        folder = zipfile.Path(path)
    found: dict[str, dict[str, Traversable]] = {}
    for file in folder.iterdir():
        if file.is_file():
            beginning = read_beginning(file)
            for what, begins in _BEGIN.items():
                if begins(beginning):
                    found.setdefault(what, {})[file.name] = file
                    break
    return Dataset(found)
