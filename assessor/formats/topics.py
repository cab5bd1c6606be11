"""Topics: TSV, or JSONL under the names that tracks and tools give to ids and titles."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report, quantity

FORMS = ("tsv", "jsonl", "request")
_ID_KEYS = {"jsonl": "id", "request": "request_id"}
_IDS = ("request_id", "id", "topic_id", "query_id", "qid")  # the first of them that a topic has is its id
_TEXTS = ("problem_statement", "background")  # the first sentence of one stands in for a title and a query
_FIRST_SENTENCE = re.compile(r".+?[.!?](?= [^a-z]|$)")


class TopicRecord(NamedTuple):
    """A topic of a file; extras are its further keys as they came."""

    line: Line
    qid: str
    title: str
    form: str
    extras: dict[str, Any]


def begins_topics(beginning: Beginning) -> bool:
    """Say whether a file begins as one of topics does: other kinds name their topic too, beside much else."""
    if beginning.records:
        is_more = beginning.has_any("nuggets", "candidates", "references", "answer", "responses", "sentences")
        return beginning.has_any(*_IDS) and beginning.has_any("title", "query", *_TEXTS) and not is_more
    return bool(beginning.lines) and all(line.count("\t") == 1 for line in beginning.lines)


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
    if values.is_header(columns, line, report):
        return None
    if len(columns) != 2:
        found = f"{quantity(len(columns), 'columns')}: {line.text}"
        report.error(line.number, "", found, "two columns, id and title, with a tab")
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
    id_key = next((key for key in _IDS if key in record), None)
    if id_key is None:
        report.error(line.number, "id", "keys " + ", ".join(record), "one of the keys " + ", ".join(_IDS))
        return None
    title = _title(record, line, report)
    qid = values.topic_id(record.pop(id_key), id_key, line, report)
    form = "request" if id_key == "request_id" else "jsonl"
    return TopicRecord(line, qid, title, form, record) if qid and title else None


def _title(record: dict[str, Any], line: Line, report: Report) -> str | None:
    """Return the title; what stands in for one stays in the record."""
    if "title" in record:
        return values.text(record.pop("title"), "title", line, report)
    if "query" in record:
        return values.text(record["query"], "query", line, report)
    key = next((key for key in _TEXTS if key in record), None)
    if key is None:
        expected = "one of the keys title, query, " + ", ".join(_TEXTS)
        report.error(line.number, "title", "keys " + ", ".join(record), expected)
        return None
    text = values.text(record[key], key, line, report)
    if text is None:
        return None
    sentence = _first_sentence(text)
    report.warn("topic without title", line.number, key, sentence, "a title or a query; the sentence stands in")
    return sentence


def _first_sentence(text: str) -> str:
    text = " ".join(text.split())
    sentence = _FIRST_SENTENCE.match(text)
    return sentence.group() if sentence else text


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
