"""What the screen reads: of a person's own support sheets, and no other's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, F, Q, QuerySet, Sum
from django.utils.translation import gettext_noop

from assessor.campaigns.models import Sentence
from assessor.campaigns.passages import Passage as Cited
from assessor.campaigns.passages import cited_passages
from assessor.formats.values import to_json
from assessor.labels.history import looked_back
from assessor.labels.models import Label
from assessor.labels.queries import numbers_of
from assessor.studies.access import labels_to_decide
from assessor.work.models import Task
from support.access import OwnSheet
from support.citations import name_of, places
from support.models import LabelEvent, SupportSheet


def own_rows(task: Task) -> QuerySet[SupportSheet]:
    """Return what a person has to judge or has judged, in the order of their queue: answers put off come last.

    Answers of which nothing can be judged are left out.
    """
    return SupportSheet.objects.filter(task=task, total__gt=0).order_by("put_off", "place", "pk")


class Queued(NamedTuple):
    """An answer in a person's queue, which has what that of any screen has first.

    number: what it is called, from 1, wherever it stands; total: its citations; equal: those to be done that are judged
    with an equal one, in another place.
    """

    sheet: int
    number: int
    to_do: int
    version: int
    put_off: int
    total: int
    equal: int


def queue(task: Task) -> list[Queued]:
    """Return a person's queue."""
    columns = ("pk", "place", "to_do", "total", "version", "put_off")
    equal = Count("judgments", filter=_SETTLED_ELSEWHERE & Q(judgments__state=Label.State.OPEN))
    sheets = list(own_rows(task).annotate(equal=equal).values_list(*columns, "equal", named=True))
    numbers = numbers_of((sheet.place, sheet.pk) for sheet in sheets)
    return [
        Queued(sheet.pk, numbers[sheet.pk], sheet.to_do, sheet.version, sheet.put_off, sheet.total, sheet.equal)
        for sheet in sheets
    ]


# Of a query on sheets, by their labels: those that nobody is asked about, because an equal one is.
_SETTLED_ELSEWHERE = Q(judgments__equal_to__isnull=False) & ~Q(judgments__equal_to=F("judgments__pk"))


class ByRule(NamedTuple):
    """What nobody is asked about in a person's answers, and why: sentences without citations, and citations."""

    uncited: int
    unresolved: int
    waiting: int
    equal: int  # judged with an equal one


def by_rule(task: Task) -> ByRule:
    """Count what a person is not asked about."""
    sheets = SupportSheet.objects.filter(task=task)
    contents = sheets.values_list("answer__content", flat=True)
    uncited = sum(not sentence["citations"] for content in contents for sentence in content)
    told = sheets.aggregate(unresolved=Sum("without_text"), waiting=Sum("waiting_for_label"))
    equal = sheets.filter(_SETTLED_ELSEWHERE).count()
    return ByRule(uncited, told["unresolved"] or 0, told["waiting"] or 0, equal)


class Line(NamedTuple):
    """A sentence as the screen shows it. why: why nothing of it is asked, "" where something is."""

    sentence: Sentence
    citations: str  # the keys of what is asked of it, with blanks between
    equal: str  # the keys of what is judged with an equal one
    why: str


class Passage(NamedTuple):
    """A cited passage as the screen shows it, with the keys of the citations that point to it."""

    segment: Cited
    citations: str


class Shown(NamedTuple):
    """An answer as the screen shows it; as JSON, for the browser, what was said of it, and what is to be decided.

    That is what two people said of a citation, by its key, where their labels differ and this person decides. under: by
    which version of the guidelines it was said, once it can only be read.
    """

    own: OwnSheet
    lines: list[Line]
    passages: list[Passage]
    said: str
    to_decide: str
    under: str


def shown(owns: Sequence[OwnSheet]) -> list[Shown]:
    """Return a person's sheets as the screen shows them, with the passages that they ask about."""
    wanted = {(own.run, own.docid(key)) for own in owns for key in own.open}
    # They are of one task, so of one campaign.
    segments = cited_passages(owns[0].task.campaign_id, wanted) if wanted else {}
    decided = labels_to_decide(owns, lambda own: {key: name_of(key, own.docid(key)) for key in own.open})
    under = _under(owns)
    return [
        Shown(
            own,
            _lines(own),
            _passages(own, segments),
            to_json(said(own)),
            to_json(decided.get(own.sheet.pk, {})),
            to_json(under.get(own.sheet.pk, {})),
        )
        for own in owns
    ]


def _under(owns: Sequence[OwnSheet]) -> dict[int, dict[str, int]]:
    if not owns:
        return {}
    events = LabelEvent.objects.filter(sheet__in=[own.sheet.pk for own in owns])
    return looked_back(owns[0].task, events)


_WHY = {
    "uncited": gettext_noop("cites nothing: none by rule"),
    "unresolved": gettext_noop("the cited text is not loaded: it can't be judged"),
    "waiting": gettext_noop("waiting for the model's label"),
    "equal": gettext_noop("judged with an equal one"),
    "more": gettext_noop("not asked"),
}


def _lines(own: OwnSheet) -> list[Line]:
    asked, equal = _by_sentence(own.open), _by_sentence(own.sheet.settled_elsewhere)
    closed = dict.fromkeys(equal, "equal")
    closed |= dict.fromkeys(_by_sentence(own.sheet.waiting), "waiting")
    closed |= dict.fromkeys(_by_sentence(own.sheet.unresolved), "unresolved")
    lines = []
    for sentence in own.sentences:
        keys = asked.get(sentence.position, [])
        why = "" if keys else closed.get(sentence.position, "more" if sentence.citations else "uncited")
        lines.append(Line(sentence, " ".join(keys), " ".join(equal.get(sentence.position, [])), _WHY.get(why, "")))
    return lines


def _by_sentence(keys: Iterable[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for key in keys:
        found.setdefault(places(key)[0], []).append(key)
    return found


def _passages(own: OwnSheet, segments: Mapping[tuple[int, str], Cited]) -> list[Passage]:
    keys: dict[str, list[str]] = {}
    for key in own.open:
        keys.setdefault(own.docid(key), []).append(key)
    found = ((segments.get((own.run, docid)), of_docid) for docid, of_docid in keys.items())
    return [Passage(segment, " ".join(of_docid)) for segment, of_docid in found if segment]


def said(own: OwnSheet) -> dict[str, Any]:
    """Return what stands on a person's sheet, of what they can judge."""
    columns = ("labels", "cannot", "flags", "shown")
    said = {column: getattr(own.sheet, column) for column in columns}
    return {"open": own.open, "equal": own.sheet.settled_elsewhere} | said
