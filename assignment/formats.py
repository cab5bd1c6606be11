"""Assignments as JSONL, in NIST's form: a line of nuggets, each with its label, and the answer that they are about.

{"query", "qid", "nuggets": [{"text", "importance", "assignment"}], "run_id", "answer_text", "response_length"}
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import TAKE_AS_MISSING, Report
from nuggets.formats import IMPORTANCE, NuggetRecord, read_nugget

NOT_SUPPORT = "not_support"
LABELS = ("support", "partial_support", NOT_SUPPORT)
_LABEL_OF = {label: label for label in LABELS}  # one object for each, however often a file spells it
_IMPORTANCE = {*IMPORTANCE}
_KEYS = ("query", "qid", "nuggets", "run_id", "answer_text", "response_length")
_EXPECTED = "support, partial_support or not_support"
_REMEDY = f"{TAKE_AS_MISSING} As not_support it counts 0, as in the nuggetizer's scores."


class SheetRecord(NamedTuple):
    """A line. labels: one for each nugget in its order, "" where there is none.

    invalid: by the nugget's place what stood where its label should, also where that counts as not_support; an
    importance that is none stays among the nugget's extras. extras: the line's further keys as they came, with the
    topic's id where it is a number and response_length where it is not the number of the answer's words. query: None in
    forms that don't have it. docid: where the text is a passage.
    """

    line: Line
    qid: str
    query: str | None
    run_id: str
    text: str
    nuggets: list[NuggetRecord]
    labels: list[str]
    invalid: dict[int, Any]
    extras: dict[str, Any]
    docid: str = ""


def begins_sheets(beginning: Beginning) -> bool:
    """Say whether a file begins with labels of the nuggets of an answer."""
    return beginning.has("qid", "nuggets", "run_id")


def read_sheets(lines: Iterable[Line], report: Report, *, invalid_labels: str) -> Iterator[SheetRecord]:
    """Yield lines. What is no label or no importance is an error, or with invalid_labels is taken and counted.

    invalid_labels: "" for errors; "missing" for missing ones; "not_support" for that label, and missing importances.
    """
    for line in lines:
        record = values.json_object(line, report)
        sheet = _sheet(record, line, report, invalid_labels) if record is not None else None
        if sheet:
            yield sheet


def _sheet(record: dict[str, Any], line: Line, report: Report, invalid_labels: str) -> SheetRecord | None:
    errors_before = report.error_count
    for key in _KEYS:
        values.required(record, key, line, report)
    if report.error_count > errors_before:
        return None
    qid = values.topic_id(record["qid"], "qid", line, report)
    if isinstance(record["qid"], str):
        del record["qid"]
    query = values.text(record.pop("query"), "query", line, report, may_be_blank=True)
    run_id = values.identifier(record.pop("run_id"), "run_id", line, report)
    text = values.text(record.pop("answer_text"), "answer_text", line, report, may_be_blank=True)
    found = record.pop("nuggets")
    said = _plain(found) or _Labels(line, report, invalid_labels).read(found)
    if report.error_count > errors_before or qid is None or query is None or run_id is None or text is None:
        return None
    words, stated = len(text.split()), record["response_length"]
    if type(stated) is int and stated == words:
        del record["response_length"]
    else:
        report.warn("response_length differs", line.number, "response_length", stated, f"{words}, the words counted")
    return SheetRecord(line, qid, query, run_id, text, *said, record)


class _Said(NamedTuple):
    """Nuggets and labels of a line, and by the nugget's place what stood where its label should."""

    nuggets: list[NuggetRecord]
    labels: list[str]
    invalid: dict[int, Any]


def _plain(found: Any) -> _Said | None:
    """Return nuggets and labels where all is plain and right, as in most lines, or None: a short cut."""
    try:
        triples = [(nugget["text"], nugget["importance"], nugget["assignment"]) for nugget in found]
        texts, importances, labels = zip(*triples, strict=True)
        is_plain = all(map(str.strip, texts)) and {*importances} <= _IMPORTANCE and max(map(len, found)) == 3
        if not is_plain or not isinstance(found, list):
            return None
        nuggets = [NuggetRecord(text, importance, {}, None) for text, importance, _ in triples]
        return _Said(nuggets, [_LABEL_OF[label] for label in labels], {})
    except (KeyError, TypeError, ValueError):
        return None


class _Labels:
    """Reads the nuggets of one line, with their labels."""

    def __init__(self, line: Line, report: Report, invalid_labels: str) -> None:
        self._line = line
        self._report = report
        self._invalid_labels = invalid_labels
        self._said = _Said([], [], {})

    def read(self, found: object) -> _Said:
        if not isinstance(found, list):
            self._report.error(self._line.number, "nuggets", found, "a list of nuggets")
            return self._said
        for at, nugget in enumerate(found):
            self._nugget(nugget, at)
        return self._said

    def _nugget(self, found: object, at: int) -> None:
        where = f"nuggets[{at}]"
        label = self._label(found, at) if isinstance(found, dict) else ""
        is_lenient = bool(self._invalid_labels)
        nugget = read_nugget(found, where, self._line, self._report, invalid_labels_missing=is_lenient)
        if nugget is None or not isinstance(found, dict):
            return
        nugget.extras.pop("assignment", None)
        if not nugget.importance and "importance" in found:
            nugget.extras["importance"] = found["importance"]
        self._said.nuggets.append(nugget)
        self._said.labels.append(label)

    def _label(self, nugget: dict[str, Any], at: int) -> str:
        if "assignment" not in nugget:
            return self._instead("keys " + ", ".join(nugget), at)
        found = nugget["assignment"]
        label = _LABEL_OF.get(found) if isinstance(found, str) else None
        if label is None:
            self._said.invalid[at] = found
            label = self._instead(found, at)
        return label

    def _instead(self, found: object, at: int) -> str:
        """Return what is taken in the place of a label."""
        where = f"nuggets[{at}].assignment"
        if self._invalid_labels == NOT_SUPPORT:
            self._report.counts["assignments taken for not_support"] += 1
            self._report.warn("assignment taken for not_support", self._line.number, where, found, _EXPECTED)
            return NOT_SUPPORT
        if self._invalid_labels:
            self._report.counts["assignments missing"] += 1
            self._report.warn("assignment missing", self._line.number, where, found, _EXPECTED)
        else:
            self._report.error(self._line.number, where, found, _EXPECTED, remedy=_REMEDY)
        return ""


def write_sheet(
    query: str,
    qid: str,
    nuggets: Sequence[dict[str, Any]],
    run_id: str,
    text: str,
    words: int,
    extras: dict[str, Any],
) -> str:
    """Return a line; its nuggets are as labelled() spells them, and extras overrule what the line says else."""
    record: dict[str, Any] = {
        "query": query,
        "qid": qid,
        "nuggets": nuggets,
        "run_id": run_id,
        "answer_text": text,
        "response_length": words,
    }
    return values.to_json(record | extras) + "\n"


def labelled(text: str, importance: str, said: dict[str, Any], further: dict[str, Any]) -> dict[str, Any]:
    """Return a nugget as it stands in a line.

    said: {"assignment": ...}, or nothing where there is no label: then there is no such key, which no reader can take
    for not_support. further: its further keys as they came, an importance that is none among them.
    """
    spelt = {"text": text}
    if importance or "importance" in further:
        spelt["importance"] = importance or further["importance"]
    return spelt | said | {key: value for key, value in further.items() if key != "importance"}
