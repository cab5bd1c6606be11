"""Nugget banks as JSONL: {"query", "qid", "nuggets": [{"text", "importance"}]}, plain or with lineage.

A line with lineage also has "ancestors": the nuggets off the list that others were made from. Each of its nuggets,
those on the list and those off it, says its id, its origin, the ids of its parents, and its evidence. Where a model
drafted nuggets, "drafts" is its list, each nugget that is one of them has its place there, from 1, as "draft", and
"deleted" has those that were taken off the list and live on in nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple
from uuid import UUID

from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import TAKE_AS_MISSING, Report

IMPORTANCE = ("vital", "okay")
ORIGINS = ("written", "drafted", "inherited", "merged", "split", "imported")
LINEAGE = ("id", "origin", "parents", "evidence")


class Lineage(NamedTuple):
    """Where a nugget comes from. parents: uids; evidence: [{"docid", "start", "end"}]; draft: its place in drafts."""

    uid: UUID
    origin: str
    parents: list[UUID]
    evidence: list[dict[str, Any]]
    draft: int | None = None


class Question(NamedTuple):
    """What a question has besides its text. gold, aggregator: as of Nugget; under: the place of another in the bank."""

    gold: list[dict[str, Any]]
    aggregator: str
    under: int | None


class NuggetRecord(NamedTuple):
    """A nugget; importance is "" where there is none, extras are its further keys as they came."""

    text: str
    importance: str
    extras: dict[str, Any]
    lineage: Lineage | None
    question: Question | None = None


class Draft(NamedTuple):
    """A nugget as a model drafted it; importance is "" where it did not say."""

    text: str
    importance: str


class BankRecord(NamedTuple):
    """A topic's nuggets in their order, and those off the list that they were made from.

    drafts: a model's list, and deleted: the nuggets of it that were taken off the list.

    query: None where the line has none, as in files of the TREC 2025 RAG track. extras: the further keys as they came,
    among them the topic's id where it is a number.
    """

    line: Line
    qid: str
    query: str | None
    nuggets: list[NuggetRecord]
    ancestors: list[NuggetRecord]
    extras: dict[str, Any]
    drafts: Sequence[Draft] = ()
    deleted: Sequence[NuggetRecord] = ()
    file_form: str = ""


def is_question(text: str) -> bool:
    """Say whether a text ends as a question does, in Latin, Chinese or Arabic script."""
    return text.rstrip().endswith(("?", "\uff1f", "\u061f"))


def begins_banks(beginning: Beginning) -> bool:
    """Say whether a file begins with the nuggets of a topic."""
    return beginning.has("qid", "nuggets") and not beginning.has_any("run_id", "answer_text")


def are_drafts(beginning: Beginning) -> bool:
    """Say whether no nugget there has an importance yet."""
    listed = [record["nuggets"] for record in beginning.records if isinstance(record.get("nuggets"), list)]
    nuggets = [one for some in listed for one in some if isinstance(one, dict)]
    return bool(nuggets) and not any("importance" in one for one in nuggets)


def read_banks(lines: Iterable[Line], report: Report, *, invalid_labels_missing: bool) -> Iterator[BankRecord]:
    """Yield banks. An importance that is none is an error, or becomes absent and is counted by what was found."""
    for line in lines:
        record = values.json_object(line, report)
        bank = _bank(record, line, report, invalid_labels_missing) if record is not None else None
        if bank:
            yield bank


def _bank(record: dict[str, Any], line: Line, report: Report, invalid_labels_missing: bool) -> BankRecord | None:
    errors_before = report.error_count
    for key in ("qid", "nuggets"):
        values.required(record, key, line, report)
    if report.error_count > errors_before:
        return None
    qid = values.topic_id(record["qid"], "qid", line, report)
    query = None
    if "query" in record:
        query = values.text(record.pop("query"), "query", line, report, may_be_blank=True)
    if isinstance(record["qid"], str):
        del record["qid"]
    has_lineage = "ancestors" in record
    reader = _Nuggets(line, report, invalid_labels_missing, has_lineage=has_lineage)
    nuggets = reader.read(record.pop("nuggets"), "nuggets")
    if odd := [key for key in ("drafts", "deleted") if key in record and not has_lineage]:
        report.error(line.number, odd[0], record[odd[0]], "this key only in a line that has ancestors too")
    ancestors = reader.read(record.pop("ancestors", []), "ancestors")
    drafts, deleted = _drafts(record, reader, line, report) if has_lineage else ([], [])
    if report.error_count > errors_before or qid is None:
        return None
    _check_lineage(nuggets, ancestors, deleted, line, report)
    _check_drafts(nuggets + ancestors, deleted, len(drafts), line, report)
    if report.error_count > errors_before:
        return None
    return BankRecord(line, qid, query, nuggets, ancestors, record, drafts, deleted)


def _drafts(
    record: dict[str, Any], reader: "_Nuggets", line: Line, report: Report
) -> tuple[list[Draft], list[NuggetRecord]]:
    """Take a model's list out of a line, and those nuggets of it that were deleted."""
    found = record.pop("drafts", [])
    if not isinstance(found, list):
        report.error(line.number, "drafts", found, "a list of drafts")
        found = []
    drafts = []
    for at, one in enumerate(found):
        draft = read_nugget(one, f"drafts[{at}]", line, report, invalid_labels_missing=False)
        if draft and draft.extras:
            report.error(line.number, f"drafts[{at}]", "keys " + ", ".join(one), "text and importance alone")
        elif draft:
            drafts.append(Draft(draft.text, draft.importance))
    return drafts, reader.read(record.pop("deleted", []), "deleted")


def read_nugget(
    found: object,
    where: str,
    line: Line,
    report: Report,
    *,
    invalid_labels_missing: bool,
    may_be_blank: bool = False,
) -> NuggetRecord | None:
    """Check the text and the importance of a nugget; all its further keys are extras.

    An importance that is none is an error, or becomes absent and is counted by what was found.
    """
    if not isinstance(found, dict) or "text" not in found:
        report.error(line.number, where, found, "an object with text")
        return None
    extras = dict(found)
    text = values.text(extras.pop("text"), f"{where}.text", line, report, may_be_blank=may_be_blank)
    importance: str | None = ""
    if "importance" in extras:
        importance = read_importance(extras.pop("importance"), where, line, report, invalid_labels_missing)
    if text is None or importance is None:
        return None
    return NuggetRecord(text, importance, extras, None)


def read_importance(found: object, where: str, line: Line, report: Report, invalid_labels_missing: bool) -> str | None:
    """Check an importance; one that is none is an error, or absent ("") and counted by what was found."""
    if isinstance(found, str) and found in IMPORTANCE:
        return found
    if not invalid_labels_missing:
        report.error(line.number, f"{where}.importance", found, "vital, okay, or no such key", remedy=TAKE_AS_MISSING)
        return None
    report.counts["importance made absent"] += 1
    report.warn("importance made absent", line.number, f"{where}.importance", found, "vital or okay")
    return ""


class _Nuggets:
    """Reads the nuggets of one line."""

    def __init__(self, line: Line, report: Report, invalid_labels_missing: bool, *, has_lineage: bool) -> None:
        self._line = line
        self._report = report
        self._invalid_labels_missing = invalid_labels_missing
        self._has_lineage = has_lineage

    def read(self, found: object, key: str) -> list[NuggetRecord]:
        if not isinstance(found, list):
            self._error(key, found, "a list of nuggets")
            return []
        # One that was emptied before others were made from it stays as it was left.
        may_be_blank = key != "nuggets"
        nuggets = [self._nugget(nugget, f"{key}[{at}]", may_be_blank) for at, nugget in enumerate(found)]
        return [nugget for nugget in nuggets if nugget]

    def _nugget(self, found: object, where: str, may_be_blank: bool) -> NuggetRecord | None:
        nugget = read_nugget(
            found,
            where,
            self._line,
            self._report,
            invalid_labels_missing=self._invalid_labels_missing,
            may_be_blank=may_be_blank,
        )
        if nugget is None:
            return None
        if self._has_lineage:
            lineage = self._lineage(nugget.extras, where)
            return nugget._replace(lineage=lineage) if lineage else None
        if odd := [key for key in LINEAGE if key in nugget.extras]:
            self._error(f"{where}.{odd[0]}", nugget.extras[odd[0]], "this key only in a line that has ancestors too")
        return nugget

    def _lineage(self, extras: dict[str, Any], where: str) -> Lineage | None:
        """Take a nugget's lineage out of its keys."""
        lacking = [key for key in LINEAGE if key not in extras]
        for key in lacking:
            self._error(f"{where}.{key}", "keys " + ", ".join(extras), "a nugget's lineage: " + ", ".join(LINEAGE))
        if lacking:
            return None
        uid, origin, parents, evidence = (extras.pop(key) for key in LINEAGE)
        draft = extras.pop("draft", None)
        errors_before = self._report.error_count
        own = self._uid(uid, f"{where}.id")
        if origin not in ORIGINS:
            self._error(f"{where}.origin", origin, "one of " + ", ".join(ORIGINS))
        if not isinstance(parents, list):
            self._error(f"{where}.parents", parents, "a list of ids of nuggets")
            parents = []
        of = [self._uid(parent, f"{where}.parents[{at}]") for at, parent in enumerate(parents)]
        if not isinstance(evidence, list):
            self._error(f"{where}.evidence", evidence, "a list of {docid, start, end}")
            evidence = []
        for at, item in enumerate(evidence):
            self._check_evidence(item, f"{where}.evidence[{at}]")
        if draft is not None and (type(draft) is not int or draft < 1):
            self._error(f"{where}.draft", draft, "a place in the drafts, from 1")
        if self._report.error_count > errors_before or own is None:
            return None
        return Lineage(own, origin, [parent for parent in of if parent], evidence, draft)

    def _uid(self, found: object, field: str) -> UUID | None:
        try:
            uid = UUID(found) if isinstance(found, str) else None
        except ValueError:
            uid = None
        if uid is None or str(uid) != found:
            self._error(field, found, "a UUID, in small letters with hyphens")
            return None
        return uid

    def _check_evidence(self, found: object, where: str) -> None:
        if not isinstance(found, dict) or found.keys() != {"docid", "start", "end"}:
            self._error(where, found, "an object with docid, start and end")
            return
        found["docid"] = values.identifier(found["docid"], f"{where}.docid", self._line, self._report)
        start, end = found["start"], found["end"]
        is_whole = start is None and end is None
        if not is_whole and not (type(start) is int and type(end) is int and 0 <= start < end):
            self._error(where, f"{start} to {end}", "start before end, in characters from 0, or both null")

    def _error(self, field: str, found: object, expected: str) -> None:
        self._report.error(self._line.number, field, found, expected)


def _check_drafts(
    nuggets: list[NuggetRecord], deleted: list[NuggetRecord], drafts: int, line: Line, report: Report
) -> None:
    """Check that each nugget which is a draft has a place of its own among the drafts, and each deleted one is one."""
    places: set[int] = set()
    for nugget in nuggets + deleted:
        place = nugget.lineage.draft if nugget.lineage else None
        if place is None:
            if nugget in deleted:
                report.error(line.number, "deleted", nugget.text, "nuggets with their place in the drafts as draft")
        elif place > drafts or place in places:
            report.error(line.number, "draft", place, f"each place once, up to {drafts}, the number of drafts")
        else:
            places.add(place)


def _check_lineage(
    nuggets: list[NuggetRecord],
    ancestors: list[NuggetRecord],
    deleted: list[NuggetRecord],
    line: Line,
    report: Report,
) -> None:
    """Check that the nuggets of a line descend from each other, from no others, and in no circle."""
    parents: dict[UUID, list[UUID]] = {}
    listed = [nugget.lineage for nugget in nuggets if nugget.lineage]
    others = [nugget.lineage for nugget in ancestors if nugget.lineage]
    for lineage in listed + others + [nugget.lineage for nugget in deleted if nugget.lineage]:
        if lineage.uid in parents:
            report.error(line.number, "id", str(lineage.uid), "each id once in a line")
        parents[lineage.uid] = lineage.parents
    for uid, of in parents.items():
        for parent in of:
            if parent not in parents:
                report.error(line.number, "parents", f"{parent}, of {uid}", "the id of a nugget in the line")
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        found = f"{error.args[1][0]}, an ancestor of itself"
        report.error(line.number, "parents", found, "no nugget made from itself")
    known = with_ancestors([lineage.uid for lineage in listed], parents)
    for lineage in others:
        if lineage.uid not in known:
            report.error(line.number, "ancestors", str(lineage.uid), "nuggets that listed ones were made from")


def with_ancestors(ids: Iterable[Any], parents: Mapping[Any, list[Any]]) -> set[Any]:
    """Return the ids and those of all nuggets that theirs were made from, near or far."""
    ids = list(ids)
    known, todo = set(ids), ids
    while todo:
        new = set(parents.get(todo.pop(), [])) - known
        known.update(new)
        todo += new
    return known


def write_bank(
    query: str,
    qid: str,
    nuggets: list[NuggetRecord],
    ancestors: list[NuggetRecord] | None,
    extras: dict[str, Any],
    drafts: Sequence[Draft] = (),
    deleted: Sequence[NuggetRecord] = (),
) -> str:
    """Return the line of a bank, with lineage where ancestors are given, be it none; extras overrule query and qid.

    A nugget without importance has no such key, never a default.
    """
    record: dict[str, Any] = {"query": query, "qid": qid, "nuggets": [_keys(nugget) for nugget in nuggets]}
    if ancestors is not None:
        record["ancestors"] = [_keys(nugget) for nugget in ancestors]
    if drafts:
        record["drafts"] = [_keys(NuggetRecord(*draft, {}, None)) for draft in drafts]
        record["deleted"] = [_keys(nugget) for nugget in deleted]
    return values.to_json(record | extras) + "\n"


def _keys(nugget: NuggetRecord) -> dict[str, Any]:
    keys: dict[str, Any] = {"text": nugget.text}
    if nugget.importance:
        keys["importance"] = nugget.importance
    keys |= nugget.extras
    if nugget.lineage:
        uid, origin, parents, evidence, draft = nugget.lineage
        keys |= {"id": str(uid), "origin": origin, "parents": [str(parent) for parent in parents], "evidence": evidence}
        keys |= {"draft": draft} if draft else {}
    return keys
