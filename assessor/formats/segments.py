"""Segments: one a line, or with a request's candidates."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report

TEXT_KEYS = ("segment", "text", "contents", "body")
_KEY_ORDER = ("url", "title", "headings")
_NUMBERS = ("start_char", "end_char")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}")  # BCP 47, as far as one needs it here


class SegmentRecord(NamedTuple):
    """A passage of a file, and the grade that a request's candidate may carry for the request's topic."""

    line: Line
    docid: str
    text: str
    extras: dict[str, Any]
    qid: str | None = None
    grade: int | None = None

    @property
    def language(self) -> str:
        """What the text is in; "" where the file does not say it."""
        return str(self.extras.get("lang", ""))

    @property
    def has_translation(self) -> bool:
        """Whether a translation stands beside the text."""
        return bool(self.extras.get("translation"))


def is_language(text: str) -> bool:
    """Say whether a text is the code of a language, such as "zho"."""
    return _LANGUAGE.fullmatch(text) is not None


def begins_segments(beginning: Beginning) -> bool:
    """Say whether a file begins as one of segments does, in either form."""
    is_segment = beginning.has("docid") and beginning.has_any(*TEXT_KEYS)
    return is_segment or beginning.has("query", "candidates")


def has_judgments(beginning: Beginning) -> bool:
    """Say whether candidates of a request carry judgments."""
    candidates = [record.get("candidates") for record in beginning.records]
    listed = [one for some in candidates if isinstance(some, list) for one in some]
    return any(isinstance(one, dict) and "judgment" in one for one in listed)


def read_segments(
    lines: Iterable[Line], report: Report, *, invalid_labels_missing: bool = False
) -> Iterator[SegmentRecord]:
    """Yield segments, of both forms. A judgment that is none is an error, or is missing and counted."""
    for line in lines:
        record = values.json_object(line, report)
        if record is None:
            continue
        if "candidates" in record:
            yield from _candidates(record, line, report, invalid_labels_missing)
        else:
            segment = read_segment(record, "", line, report)
            if segment:
                yield segment


def read_segment(record: dict[str, Any], where: str, line: Line, report: Report) -> SegmentRecord | None:
    """Read one segment; `where` is the path of the record in its line."""
    extras = dict(record)
    text_keys = [key for key in TEXT_KEYS if key in record]
    if len(text_keys) != 1:
        found = "keys " + ", ".join(record)
        report.error(line.number, f"{where}segment", found, f"the text under one of {', '.join(TEXT_KEYS)}")
        return None
    if not values.required(record, "docid", line, report):
        return None
    docid = values.identifier(extras.pop("docid"), f"{where}docid", line, report)
    text = values.text(extras.pop(text_keys[0]), f"{where}{text_keys[0]}", line, report)
    for key in (*_KEY_ORDER, "translation"):
        if key in extras and values.text(extras[key], where + key, line, report, may_be_blank=True) is None:
            return None
    for key in _NUMBERS:
        if key in extras and (not isinstance(extras[key], int) or isinstance(extras[key], bool)):
            report.error(line.number, where + key, extras[key], "a whole number")
            return None
    if "lang" in extras and not (isinstance(extras["lang"], str) and is_language(extras["lang"])):
        report.error(line.number, where + "lang", extras["lang"], "the code of a language, such as zho or en")
        return None
    return SegmentRecord(line, docid, text, extras) if docid and text else None


def _candidates(
    record: dict[str, Any], line: Line, report: Report, invalid_labels_missing: bool
) -> Iterator[SegmentRecord]:
    query, candidates = record.get("query"), record["candidates"]
    if not isinstance(query, dict) or "qid" not in query:
        report.error(line.number, "query", query, "an object with qid")
        return
    qid = values.topic_id(query["qid"], "query.qid", line, report)
    if not isinstance(candidates, list):
        report.error(line.number, "candidates", candidates, "a list")
        return
    for position, candidate in enumerate(candidates):
        where = f"candidates[{position}]."
        if not isinstance(candidate, dict) or not isinstance(candidate.get("doc"), dict):
            report.error(line.number, f"{where}doc", candidate, "an object with docid and doc")
            continue
        doc = {"docid": candidate.get("docid"), **candidate["doc"]}
        if "docid" in candidate and doc["docid"] != candidate["docid"]:
            report.error(line.number, f"{where}doc.docid", doc["docid"], f"the candidate's docid {candidate['docid']}")
            continue
        segment = read_segment(doc, f"{where}doc.", line, report)
        if segment is None:
            continue
        grade = None
        if "judgment" in candidate:
            judgment = candidate["judgment"]
            is_lenient = invalid_labels_missing
            grade = values.grade(judgment, f"{where}judgment", line, report, invalid_labels_missing=is_lenient)
        yield segment._replace(qid=qid, grade=grade)


def write_segments(segments: Iterable[Any]) -> Iterator[str]:
    """Yield the lines of segments (anything with docid, text, extras), keys in the format's order."""
    for segment in segments:
        extras = dict(segment.extras)
        head = {key: extras.pop(key) for key in _KEY_ORDER if key in extras}
        tail = {key: extras.pop(key) for key in _NUMBERS if key in extras}
        yield values.to_json({"docid": segment.docid, **head, "segment": segment.text, **tail, **extras}) + "\n"
