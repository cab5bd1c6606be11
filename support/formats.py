"""Support judgments as JSONL, in NIST's form: a line for each answer, with its sentences and the passages they cite.

{"topic_id", "run_id", "sentences": [{"sentenceID", "text", "citations": [{"citationID", "reference", "support"}]}]}

A second form spells sentenceId and citationId. Both are read, the first is written.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import TAKE_AS_MISSING, Report
from support.citations import FULL, NONE, NOT_JUDGED, PARTIAL

SPELT = {FULL: "2", PARTIAL: "1", NONE: "0", NOT_JUDGED: "-1"}
LABEL_OF = {spelt: label for label, spelt in SPELT.items()}
_EXPECTED = '"2", "1", "0" or "-1", as text'


class CitationRecord(NamedTuple):
    """A citation. label: "" where there is none; found then has what stood there, {"support": ...}, or nothing.

    number: its citationID as it came; extras: its further keys.
    """

    docid: str
    label: str
    found: dict[str, Any]
    number: Any
    extras: dict[str, Any]


class SentenceRecord(NamedTuple):
    """A sentence. extras: its further keys as they came.

    Among them are its sentenceID, where that is not its place, and {"text": None}, where the file had NaN for a text.
    """

    text: str
    citations: list[CitationRecord]
    extras: dict[str, Any]


class SheetRecord(NamedTuple):
    """A line. extras: its further keys as they came, and the topic's id where it is a number."""

    line: Line
    qid: str
    run_id: str
    sentences: list[SentenceRecord]
    extras: dict[str, Any]

    @property
    def text(self) -> str:
        """The whole answer, its sentences joined with blanks."""
        return " ".join(sentence.text for sentence in self.sentences)


def begins_sheets(beginning: Beginning) -> bool:
    """Say whether a file begins with labels of an answer's citations."""
    return beginning.has("topic_id", "run_id", "sentences")


def read_sheets(lines: Iterable[Line], report: Report, *, invalid_labels_missing: bool) -> Iterator[SheetRecord]:
    """Yield lines. A label that is none is an error, or becomes missing and is counted."""
    for line in lines:
        sheet = _Reader(line, report, invalid_labels_missing).read()
        if sheet:
            yield sheet


class _Reader:
    """Reads one line. What is not taken out of its objects stays in them as their further keys."""

    def __init__(self, line: Line, report: Report, invalid_labels_missing: bool) -> None:
        self._line = line
        self._report = report
        self._invalid_labels_missing = invalid_labels_missing

    def read(self) -> SheetRecord | None:
        with_nan = "NaN" in self._line.text
        record = values.json_object(self._line, self._report, with_nan=with_nan)
        if record is None:
            return None
        errors_before = self._report.error_count
        for key in ("topic_id", "run_id", "sentences"):
            values.required(record, key, self._line, self._report)
        if self._report.error_count > errors_before:
            return None
        qid = values.topic_id(record["topic_id"], "topic_id", self._line, self._report)
        if isinstance(record["topic_id"], str):
            del record["topic_id"]
        run_id = values.identifier(record.pop("run_id"), "run_id", self._line, self._report)
        found = self._list(record.pop("sentences"), "sentences", "sentences")
        sentences = [self._sentence(one, at) for at, one in enumerate(found)]
        if with_nan and _holds_nan([record, sentences]):
            self._error("", "NaN", "numbers that are finite; NaN only as a sentence's text")
        known = [sentence for sentence in sentences if sentence]
        if self._report.error_count > errors_before or qid is None or run_id is None:
            return None
        return SheetRecord(self._line, qid, run_id, known, record)

    def _list(self, found: object, where: str, what: str) -> list[Any]:
        if isinstance(found, list):
            return found
        self._error(where, found, f"a list of {what}")
        return []

    def _sentence(self, found: Any, at: int) -> SentenceRecord | None:
        where = f"sentences[{at}]"
        if not self._has_keys(found, where, "sentence", ("text", "citations")):
            return None
        number = self._number(found, where, "sentence")
        extras = {} if number == at else {"sentenceID": number}
        text = found.pop("text")
        if isinstance(text, float) and math.isnan(text):
            self._report.warn("sentence without text", self._line.number, f"{where}.text", "NaN", "text")
            text, extras["text"] = "", None
        text = values.text(text, f"{where}.text", self._line, self._report, may_be_blank=True)
        citations = self._citations(found.pop("citations"), f"{where}.citations")
        if number is None or text is None:
            return None
        return SentenceRecord(text, citations, extras | found)

    def _citations(self, found: object, where: str) -> list[CitationRecord]:
        """Return what a sentence cites; of a passage that it cites more than once with one label, the first."""
        first: dict[str, tuple[str, CitationRecord]] = {}
        for at, one in enumerate(self._list(found, where, "citations")):
            place = f"{where}[{at}]"
            citation = self._citation(one, place)
            if citation is None:
                continue
            known_at, known = first.setdefault(citation.docid, (place, citation))
            if known is citation:
                continue
            if (known.label, known.found) != (citation.label, citation.found):
                stated = SPELT.get(citation.label) or citation.found.get("support", "no label")
                of_first = SPELT.get(known.label) or known.found.get("support", "no label")
                expected = f"{of_first}, as {known_at} has it for the same passage"
                self._error(f"{place}.support", stated, expected)
            else:
                warned = ("passage cited twice", self._line.number, f"{place}.reference", citation.docid)
                self._report.warn(*warned, f"each once in a sentence; {known_at} has it with the same label")
        return [citation for _, citation in first.values()]

    def _citation(self, found: Any, where: str) -> CitationRecord | None:
        if not self._has_keys(found, where, "citation", ("reference",)):
            return None
        number = self._number(found, where, "citation")
        docid = values.identifier(found.pop("reference"), f"{where}.reference", self._line, self._report)
        stated = {"support": found.pop("support")} if "support" in found else {}
        label = self._label(stated, found, where)
        if number is None or docid is None:
            return None
        return CitationRecord(docid, label, {} if label else stated, number, found)

    def _label(self, stated: dict[str, Any], others: dict[str, Any], where: str) -> str:
        found = stated.get("support")
        label = LABEL_OF.get(found) if isinstance(found, str) else None
        if label:
            return label
        shown = repr(found) if stated and not isinstance(found, str) else found
        shown = shown if stated else "keys " + ", ".join(["reference", *others])
        if self._invalid_labels_missing:
            self._report.counts["support judgments missing"] += 1
            self._report.warn("support missing", self._line.number, f"{where}.support", shown, _EXPECTED)
        else:
            self._report.error(self._line.number, f"{where}.support", shown, _EXPECTED, remedy=TAKE_AS_MISSING)
        return ""

    def _has_keys(self, found: object, where: str, what: str, keys: Sequence[str]) -> bool:
        if isinstance(found, dict) and all(key in found for key in keys):
            return True
        shown = "keys " + ", ".join(found) if isinstance(found, dict) else found
        self._error(where, shown, f"an object with {what}ID, {' and '.join(keys)}")
        return False

    def _number(self, found: dict[str, Any], where: str, what: str) -> Any:
        """Take the number of a sentence or a citation out of it, however it is spelt; None where that can't be."""
        spellings = [key for key in (f"{what}ID", f"{what}Id") if key in found]
        if len(spellings) != 1:
            self._error(where, "keys " + ", ".join(found), f"either {what}ID or {what}Id")
            return None
        number = found.pop(spellings[0])
        if type(number) is int:
            return number
        return values.identifier(number, f"{where}.{spellings[0]}", self._line, self._report)

    def _error(self, field: str, found: object, expected: str) -> None:
        self._report.error(self._line.number, field, found, expected)


def _holds_nan(value: Any) -> bool:
    """Say whether there is a NaN anywhere in a value, without recursion."""
    level = [value]
    while level:
        if any(isinstance(one, float) and math.isnan(one) for one in level):
            return True
        level = [
            inner
            for one in level
            if isinstance(one, dict | list | tuple)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return False


def write_sheet(qid: str, run_id: str, sentences: Sequence[dict[str, Any]], extras: dict[str, Any]) -> str:
    """Return a line; sentences are as written_sentence() spells them, and extras overrule what the line says else."""
    record: dict[str, Any] = {"topic_id": qid, "run_id": run_id, "sentences": sentences}
    return values.to_json(record | extras, with_nan=True) + "\n"


def written_sentence(
    place: int, text: str, citations: Sequence[dict[str, Any]], further: dict[str, Any]
) -> dict[str, Any]:
    """Return a sentence as it stands in a line; further overrules the rest, with None for a text that came as NaN."""
    spelt = {"sentenceID": place, "text": text, "citations": citations} | further
    return spelt | ({"text": math.nan} if spelt["text"] is None else {})


def written_citation(place: int, docid: str, said: dict[str, Any], further: dict[str, Any]) -> dict[str, Any]:
    """Return a citation as it stands in a line.

    said: {"support": ...}, or nothing where there is no label: then there is no such key, which no reader can take for
    no support.
    """
    number = further.get("citationID", place)
    return {"citationID": number, "reference": docid} | said | {k: v for k, v in further.items() if k != "citationID"}
