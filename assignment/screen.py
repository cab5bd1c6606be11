"""What the blind screen reads: of a person's own answer sheets, and no other's."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.models import Sentence
from assessor.formats.values import to_json
from assessor.labels.history import looked_back, said_under
from assessor.labels.models import Label
from assessor.labels.queries import numbers_of
from assessor.studies.access import labels_to_decide
from assessor.work.models import Task
from assignment.access import OwnSheet, own_sheets
from assignment.models import AnswerSheet, Assignment, LabelEvent
from assignment.queries import name_of
from assignment.shown_labels import openable, waiting
from nuggets.models import BankEdition, NuggetBank
from nuggets.queries import nuggets_of, with_keys


def own_rows(task: Task, bank: NuggetBank) -> QuerySet[AnswerSheet]:
    """Return what a person has to label or has labelled, in the order of their queue: answers put off come last.

    Those that wait for a model's labels are left out.
    """
    own = _in_scope(task, bank).filter(by_rule=False)
    return openable(own, task.condition).order_by("put_off", "place", "pk")


def _in_scope(task: Task, bank: NuggetBank) -> QuerySet[AnswerSheet]:
    return AnswerSheet.everything.filter(task=task, bank=bank, out_of_scope=False)


class Queued(NamedTuple):
    """An answer in a person's queue. number: what it is called, from 1, wherever it stands."""

    sheet: int
    number: int
    to_do: int
    version: int
    put_off: int


def queue(task: Task, bank: NuggetBank) -> list[Queued]:
    """Return a person's queue."""
    rows = list(own_rows(task, bank).values_list("pk", "place", "to_do", "version", "put_off"))
    numbers = numbers_of((place, pk) for pk, place, *_ in rows)
    return [Queued(pk, numbers[pk], to_do, version, put_off) for pk, _, to_do, version, put_off in rows]


def by_rule(task: Task, bank: NuggetBank) -> int:
    """Count the empty answers of a task, which nobody is asked about."""
    return _in_scope(task, bank).filter(by_rule=True).count()


def waiting_for_model(task: Task, bank: NuggetBank) -> int:
    """Count the answers of a task that can't be opened yet: a model whose labels are shown has not labelled them."""
    return waiting(_in_scope(task, bank), task.condition).count()


class Row(NamedTuple):
    """A nugget as the screen shows it. note: the person's own, if they made the bank."""

    id: int
    text: str
    importance: str
    note: str


def rows(bank: NuggetBank, *, with_notes: bool) -> list[Row]:
    """Return the nuggets that a bank was last finished with, in its order; notes only for who made it."""
    notes = dict(bank.nuggets.exclude(note="").values_list("pk", "note")) if with_notes else {}
    return [
        Row(nugget["id"], nugget["text"], nugget["importance"], notes.get(nugget["id"], ""))
        for nugget in nuggets_of(bank)
    ]


class Shown(NamedTuple):
    """An answer as the screen shows it; as JSON, for the browser, what was said of it, and what is to be decided.

    That is what two people said of a nugget, by its id, where their labels differ and this person decides. under: by
    which version of the guidelines it was said, once it can only be read.
    """

    own: OwnSheet
    said: str
    older: str
    to_decide: str
    under: str


def shown(owns: Sequence[OwnSheet]) -> list[Shown]:
    """Return a person's sheets as the screen shows them."""
    decided = labels_to_decide(owns, lambda own: {str(nugget["id"]): name_of(nugget) for nugget in own.nuggets})
    under = (
        looked_back(owns[0].task, LabelEvent.objects.filter(sheet__in=[own.sheet.pk for own in owns])) if owns else {}
    )
    return [
        Shown(
            own,
            to_json(said(own)),
            to_json(older(own)),
            to_json(decided.get(own.sheet.pk, {})),
            to_json(under.get(own.sheet.pk, {})),
        )
        for own in owns
    ]


def said(own: OwnSheet) -> dict[str, Any]:
    """Return what stands on a person's sheet."""
    columns = ["asked", "labels", "cannot", "stale", "flags", "marks"]
    if own.shown_condition is not None:
        columns.append("shown")
    return {column: getattr(own.sheet, column) for column in columns}


def older(own: OwnSheet) -> dict[str, list[tuple[str, str]]]:
    """Return, for each nugget (by id, as text) whose label is stale, what became of the text that was labelled.

    That is the words of both texts in order, in pieces: ("both", ...), ("old", ...), ("new", ...).
    """
    if not own.sheet.stale:
        return {}
    labelled: dict[str, int] = {}  # in which edition of the bank
    events = LabelEvent.objects.filter(sheet=own.sheet.pk).order_by("version")
    for edition, changes in LabelEvent.changes_of(events, "edition"):
        labelled |= {nugget: edition for nugget, change in changes.items() if change.get("label", (None, None))[1]}
    now = {str(nugget["id"]): nugget["text"] for nugget in own.nuggets}
    editions = with_keys(BankEdition.objects.filter(bank=own.bank.pk, edition__in=set(labelled.values())))
    texts = {(edition.edition, str(nugget["id"])): nugget["text"] for edition in editions for nugget in edition.nuggets}
    return {nugget: _difference(texts[labelled[nugget], nugget], now[nugget]) for nugget in own.sheet.stale}


def _difference(old: str, new: str) -> list[tuple[str, str]]:
    before, after = old.split(), new.split()
    pieces = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        found = [("both", after[c:d])] if kind == "equal" else [("old", before[a:b]), ("new", after[c:d])]
        pieces += [(name, " ".join(words)) for name, words in found if words]
    return pieces


class Across(NamedTuple):
    """An answer under one nugget. label: "" where it can't be judged; marked: the words that carry the nugget."""

    sheet: int
    number: int
    label: str
    cannot: str
    flag: str
    marked: list[str]
    sentences: list[Sentence]
    under: int | None  # by which version of the guidelines it was said


def across(task: Task, bank: NuggetBank, nugget: int) -> list[Across]:
    """Return a person's own answers of which they said something about a nugget, by their numbers."""
    key = str(nugget)
    numbers = {queued.sheet: queued.number for queued in queue(task, bank)}
    said = Assignment.everything.filter(nugget=nugget, state__in=(Label.State.GIVEN, Label.State.UNJUDGEABLE))
    labelled = list(own_rows(task, bank).filter(pk__in=said.values("sheet")).values_list("pk", flat=True))
    under = said_under(LabelEvent.objects.filter(sheet__in=labelled))
    found = []
    for own in own_sheets(task, sorted(labelled, key=numbers.__getitem__)):
        sheet = own.sheet
        marked = [own.sentences[sentence].text[start:end] for sentence, start, end in sheet.marks.get(key, [])]
        label, cannot, note = (column.get(key, "") for column in (sheet.labels, sheet.cannot, sheet.flags))
        read = under.get((sheet.pk, key))
        found.append(Across(sheet.pk, numbers[sheet.pk], label, cannot, note, marked, own.sentences, read))
    return found
