"""What the screen reads: of a person's own support sheets, and no other's."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from assessor.collection.formats.values import to_json
from assessor.collection.models import Segment, Sentence
from assessor.work.models import Task
from support.access import OwnSheet
from support.citations import places
from support.models import SupportSheet


def own_rows(task: Task) -> QuerySet[SupportSheet]:
    """Return what a person has to judge or has judged, in the order of their queue: answers put off come last.

    Answers of which nothing can be judged are left out.
    """
    sheets = SupportSheet.objects.filter(task=task).exclude(to_do=0, labels={}, cannot={})
    return sheets.order_by("put_off", "place", "pk")


class Queued(NamedTuple):
    """An answer in a person's queue. number: what it is called, from 1, wherever it stands; total: its citations."""

    sheet: int
    number: int
    to_do: int
    total: int
    version: int
    put_off: int


def queue(task: Task) -> list[Queued]:
    """Return a person's queue."""
    columns = ("pk", "place", "to_do", "version", "put_off", "asked", "unresolved", "waiting")
    rows = list(own_rows(task).values_list(*columns))
    in_order = sorted((row[1], row[0]) for row in rows)
    numbers = {pk: number for number, (_, pk) in enumerate(in_order, start=1)}
    return [
        Queued(pk, numbers[pk], to_do, len(asked) - len(unresolved) - len(waiting), version, put_off)
        for pk, _, to_do, version, put_off, asked, unresolved, waiting in rows
    ]


class ByRule(NamedTuple):
    """What nobody is asked about in a person's answers, and why: sentences without citations, and citations."""

    uncited: int
    unresolved: int
    waiting: int


def by_rule(task: Task) -> ByRule:
    """Count what a person is not asked about."""
    rows = SupportSheet.objects.filter(task=task).values_list("answer__content", "unresolved", "waiting")
    uncited = unresolved = waiting = 0
    for content, of_sheet, waits in rows:
        uncited += sum(not sentence["citations"] for sentence in content)
        unresolved += len(of_sheet)
        waiting += len(waits)
    return ByRule(uncited, unresolved, waiting)


class Line(NamedTuple):
    """A sentence as the screen shows it. why: why nothing of it is asked, "" where something is."""

    sentence: Sentence
    citations: str  # the keys of what is asked of it, with blanks between
    why: str


class Passage(NamedTuple):
    """A cited passage as the screen shows it, with the keys of the citations that point to it."""

    segment: Segment
    citations: str


class Shown(NamedTuple):
    """An answer as the screen shows it; what was said of it as JSON, for the browser."""

    own: OwnSheet
    lines: list[Line]
    passages: list[Passage]
    said: str


def shown(owns: Sequence[OwnSheet]) -> list[Shown]:
    """Return a person's sheets as the screen shows them, with the passages that they ask about."""
    wanted = {own.docid(key) for own in owns for key in own.open}
    # They are of one task, so of one campaign.
    segments = Segment.objects.filter(campaign=owns[0].task.campaign_id, docid__in=wanted) if wanted else []
    by_docid = {segment.docid: segment for segment in segments}
    return [Shown(own, _lines(own), _passages(own, by_docid), to_json(said(own))) for own in owns]


_WHY = {
    "uncited": "cites nothing: none by rule",
    "unresolved": "the cited text is not loaded: it can't be judged",
    "waiting": "waits for the model's label",
    "more": "not asked",
}


def _lines(own: OwnSheet) -> list[Line]:
    by_sentence: dict[int, list[str]] = {}
    for key in own.open:
        by_sentence.setdefault(places(key)[0], []).append(key)
    closed = {places(key)[0]: "unresolved" for key in own.sheet.unresolved}
    closed = {places(key)[0]: "waiting" for key in own.sheet.waiting} | closed
    lines = []
    for sentence in own.sentences:
        keys = by_sentence.get(sentence.position, [])
        why = "" if keys else closed.get(sentence.position, "more" if sentence.citations else "uncited")
        lines.append(Line(sentence, " ".join(keys), _WHY.get(why, "")))
    return lines


def _passages(own: OwnSheet, segments: dict[str, Segment]) -> list[Passage]:
    keys: dict[str, list[str]] = {}
    for key in own.open:
        keys.setdefault(own.docid(key), []).append(key)
    return [Passage(segments[docid], " ".join(of_docid)) for docid, of_docid in keys.items() if docid in segments]


def said(own: OwnSheet) -> dict[str, Any]:
    """Return what stands on a person's sheet, of what they can judge."""
    columns = ("labels", "cannot", "flags", "shown")
    return {"open": own.open} | {column: getattr(own.sheet, column) for column in columns}
