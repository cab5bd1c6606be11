"""What the screen reads: of a person's own ARGUE sheets, and no other's."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_noop

from assessor.campaigns.models import Sentence
from assessor.campaigns.passages import Passage, cited_passages
from assessor.formats.values import to_json
from assessor.labels.history import looked_back
from assessor.labels.models import Label
from assessor.labels.queries import numbers_of
from assessor.work.models import Task
from assignment.argue.access import OwnSheet
from assignment.argue.items import item_of_key
from assignment.argue.models import ArgueSheet, LabelEvent
from assignment.argue.queries import ASKS
from assignment.argue.vocabulary import ATTESTS, FIRST, NEEDS, NEGATIVE, NO, YES
from nuggets.models import NuggetBank
from nuggets.queries import nuggets_of

_NO_TEXT = gettext_noop("the cited text is not loaded: it can't be judged")
_NOT_ASKED = gettext_noop("not asked")


class Choice(NamedTuple):
    """A label on the screen: its key, what its button says, and what it says of a sentence."""

    label: str
    key: str
    words: str
    says: str


class Step(NamedTuple):
    """A question with a button for each label. about: what it is about, where its label stands beside it."""

    name: str
    question: str
    about: str
    choices: tuple[Choice, Choice]


# "n" is always the answer no to what is asked.
STEPS = (
    Step(
        ATTESTS,
        gettext_noop("Does the document support the sentence?"),
        gettext_noop("supported by what it cites"),
        (
            Choice(YES, "y", gettext_noop("Yes, all it says"), gettext_noop("supported")),
            Choice(NO, "n", gettext_noop("No, or only a part"), gettext_noop("not supported")),
        ),
    ),
    Step(
        NEEDS,
        gettext_noop("It cites nothing. Does it need a citation?"),
        gettext_noop("needs a citation"),
        (
            Choice(YES, "c", gettext_noop("Yes"), gettext_noop("needs a citation")),
            Choice(NO, "n", gettext_noop("No"), gettext_noop("needs no citation")),
        ),
    ),
    Step(
        NEGATIVE,
        gettext_noop("Does it claim that nothing is known?"),
        gettext_noop("claims that nothing is known"),
        (
            Choice(YES, "y", gettext_noop("Yes"), gettext_noop("claims that nothing is known")),
            Choice(NO, "n", gettext_noop("No"), gettext_noop("no such claim")),
        ),
    ),
    Step(
        FIRST,
        gettext_noop("Did a sentence before say this?"),
        gettext_noop("said here first"),
        (
            Choice(NO, "r", gettext_noop("Yes, said before"), gettext_noop("said before")),
            Choice(YES, "n", gettext_noop("No, said here first"), gettext_noop("said here first")),
        ),
    ),
)


def own_rows(task: Task) -> QuerySet[ArgueSheet]:
    """Return what a person has to judge or has judged, in the order of their queue: reports put off come last.

    Reports of which nothing can be judged are left out.
    """
    return ArgueSheet.objects.filter(ASKS, task=task).order_by("put_off", "place", "pk")


class Queued(NamedTuple):
    """A report in a person's queue. number: what it is called, from 1, wherever it stands."""

    sheet: int
    number: int
    to_do: int
    version: int
    put_off: int


def queue(task: Task) -> list[Queued]:
    """Return a person's queue."""
    rows = list(own_rows(task).values_list("pk", "place", "to_do", "version", "put_off"))
    numbers = numbers_of((place, pk) for pk, place, *_ in rows)
    return [Queued(pk, numbers[pk], to_do, version, put_off) for pk, _, to_do, version, put_off in rows]


class NotAsked(NamedTuple):
    """What nobody is asked about in a person's reports: empty ones, sentences, and documents without a text."""

    empty: int
    cut: int
    unresolved: int


def not_asked(task: Task) -> NotAsked:
    """Count what a person is not asked about."""
    sheets = ArgueSheet.objects.filter(task=task)
    cuts = sheets.values_list("cut", flat=True)
    without_text = Count("argue_judgments", filter=Q(argue_judgments__state=Label.State.NO_TEXT))
    unresolved = sheets.aggregate(unresolved=without_text)["unresolved"]
    return NotAsked(sheets.filter(argue_judgments=None).count(), sum(cuts), unresolved)


class Gold(NamedTuple):
    """A gold answer as the screen shows it. name: as keys of items end with it."""

    name: str
    text: str


class Question(NamedTuple):
    """A question as the screen shows it, with its gold answers."""

    text: str
    gold: list[Gold]


def questions(bank: NuggetBank) -> list[Question]:
    """Return the questions that a bank was last finished with, in its order, that have gold answers."""
    found = [
        Question(
            nugget["text"],
            [Gold(f"n{nugget['uid']}.{gold['id']}", gold["text"]) for gold in nugget.get("gold") or ()],
        )
        for nugget in nuggets_of(bank)
    ]
    return [one for one in found if one.gold]


class Line(NamedTuple):
    """A sentence as the screen shows it. why: why nothing of it is asked, "" where something is."""

    sentence: Sentence
    why: str


class Shown(NamedTuple):
    """A report as the screen shows it; as JSON, for the browser, what was said of it.

    follows: what is asked only where other labels stand, as Bank has it; under: by which version of the guidelines it
    was said, once it can only be read.
    """

    own: OwnSheet
    lines: list[Line]
    documents: list[Passage]
    said: str
    follows: str
    under: str


def shown(owns: Sequence[OwnSheet]) -> list[Shown]:
    """Return a person's sheets as the screen shows them, with the documents that their sentences cite."""
    if not owns:
        return []
    wanted = {(own.run, docid) for own in owns for docid in _docids(own)}
    # They are of one task, so of one campaign.
    documents = cited_passages(owns[0].task.campaign_id, wanted) if wanted else {}
    under = looked_back(owns[0].task, LabelEvent.objects.filter(sheet__in=[own.sheet.pk for own in owns]))
    return [
        Shown(
            own,
            _lines(own),
            [documents[own.run, docid] for docid in _docids(own) if (own.run, docid) in documents],
            to_json(said(own)),
            to_json({} if own.sheet.is_part else own.asked.follows),
            to_json(under.get(own.sheet.pk, {})),
        )
        for own in owns
    ]


def _docids(own: OwnSheet) -> list[str]:
    """Return what the sentences of which something is asked cite, each once."""
    return list(dict.fromkeys(docid for key in _possible(own) if (docid := item_of_key(key).docid)))


def _lines(own: OwnSheet) -> list[Line]:
    asked = {item_of_key(key).sentence for key in _possible(own)}
    unresolved = {item_of_key(key).sentence for key in own.sheet.unresolved}
    lines = []
    for sentence in own.sentences:
        at = sentence.position
        why = _NO_TEXT if at in unresolved else _NOT_ASKED
        lines.append(Line(sentence, "" if at in asked else why))
    return [*lines, *(Line(sentence, "beyond the limit, not judged") for sentence in own.cut)]


def _possible(own: OwnSheet) -> list[str]:
    """Return what is asked, or will be where certain labels are given, and can be judged, in the report's order."""
    unresolved, asked = set(own.sheet.unresolved), set(own.sheet.asked)
    keys = [item.key for item in own.asked.possible(own.sentences)]
    return [key for key in keys if key not in unresolved and (key in asked or not own.sheet.is_part)]


def said(own: OwnSheet) -> dict[str, Any]:
    """Return what stands on a person's sheet, and what is asked, or can be."""
    columns = ("labels", "cannot", "flags", "stale")
    return {"open": _possible(own), **{column: getattr(own.sheet, column) for column in columns}}
