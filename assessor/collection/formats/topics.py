"""Topics: TSV, or JSONL with id or request_id."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from assessor.collection.formats import values
from assessor.collection.formats.lines import Line
from assessor.collection.formats.report import Report

FORMS = ("tsv", "jsonl", "request")
_ID_KEYS = {"jsonl": "id", "request": "request_id"}


class TopicRecord(NamedTuple):
    """A topic of a file; extras are its further keys as they came."""

    line: Line
    qid: str
    title: str
    form: str
    extras: dict[str, Any]


def read_topics(lines: Iterable[Line], report: Report) -> Iterator[TopicRecord]:
    """Yield topics; the first line says which form the file has."""
    is_json: bool | None = None
    for line in lines:
        if is_json is None:
            is_json = line.text.lstrip().startswith("{")
        record = _from_json(line, report) if is_json else _from_tsv(line, report)
        if record:
            yield record


def _from_tsv(line: Line, report: Report) -> TopicRecord | None:
    columns = line.text.split("\t")
    if len(columns) != 2:
        report.error(line.number, "", f"{len(columns)} columns: {line.text}", "two columns, id and title, with a tab")
        return None
    if columns[0].lstrip().startswith("{"):
        report.error(line.number, "id", columns[0], "an id that does not begin as JSON does")
        return None
    qid = values.identifier(columns[0], "id", line, report)
    title = values.text(columns[1], "title", line, report)
    return TopicRecord(line, qid, title, "tsv", {}) if qid and title else None


def _from_json(line: Line, report: Report) -> TopicRecord | None:
    record = values.json_object(line, report)
    if record is None:
        return None
    form = "request" if "request_id" in record else "jsonl"
    id_key = _ID_KEYS[form]
    if not (values.required(record, id_key, line, report) and values.required(record, "title", line, report)):
        return None
    qid = values.identifier(record.pop(id_key), id_key, line, report)
    title = values.text(record.pop("title"), "title", line, report)
    return TopicRecord(line, qid, title, form, record) if qid and title else None


def write_topics(topics: Iterable[Any], form: str) -> Iterator[str]:
    """Yield the lines of topics (anything with qid, title, extras) in a form.

    TSV has room for id and title only, and for no tab or line break: those become blanks.
    """
    for topic in topics:
        if form == "tsv":
            yield f"{topic.qid}\t{' '.join(topic.title.split()) if _breaks_tsv(topic.title) else topic.title}\n"
        else:
            head = {_ID_KEYS[form]: topic.qid, "title": topic.title}
            yield values.to_json(head | topic.extras | head) + "\n"


def _breaks_tsv(title: str) -> bool:
    return any(char in title for char in "\t\n\r")
