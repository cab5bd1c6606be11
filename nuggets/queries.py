"""What pages and exports read of banks."""

from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from assessor.collection.models import Condition, Grade, Segment
from assessor.collection.queries import segments_by_docid
from nuggets.models import BankEdit, Nugget, NuggetBank


class Passage(NamedTuple):
    """A relevant passage beside the list."""

    segment: Segment
    grade: int


class Row(NamedTuple):
    """A nugget on the list. same_as: the place, from 1, of an earlier nugget with the same words, or 0."""

    nugget: Nugget
    place: int
    words: int
    same_as: int


# What the browser fills in for a nugget that is not saved yet.
BLANK_ROW = Row(Nugget(uid=UUID(int=0), text=""), 0, 0, 0)


class Finding(NamedTuple):
    """What keeps a bank from being finished: at one nugget, or (uid "") in the whole list."""

    uid: str
    message: str


def passages(bank: NuggetBank) -> tuple[list[Passage], int]:
    """Return the topic's relevant passages by grade, then docid, and how many have no text loaded.

    Only grades of the condition's own source are read: an assessor sees no other, and no LLM's.
    """
    grades = Grade.objects.filter(
        source=bank.condition.qrels_source, topic=bank.topic, grade__gte=bank.condition.protocol.min_relevant_grade
    )
    graded = sorted(grades.values_list("docid", "grade"), key=lambda pair: (-pair[1], pair[0]))
    segments = segments_by_docid(bank.condition.campaign, [docid for docid, _ in graded])
    loaded = [Passage(segments[docid], grade) for docid, grade in graded if docid in segments]
    return loaded, len(graded) - len(loaded)


def nuggets_in_order(bank: NuggetBank) -> list[Nugget]:
    """Return the nuggets on the list, in order."""
    by_pk = {nugget.pk: nugget for nugget in bank.nuggets.all()}
    return [by_pk[pk] for pk in bank.order]


def rows(bank: NuggetBank) -> list[Row]:
    """Return the list as the editor shows it."""
    first_place: dict[str, int] = {}
    shown = []
    for place, nugget in enumerate(nuggets_in_order(bank), start=1):
        words = nugget.text.split()
        first = first_place.setdefault(" ".join(words).casefold(), place)
        shown.append(Row(nugget, place, len(words), first if first != place else 0))
    return shown


def next_redo(bank: NuggetBank) -> BankEdit | None:
    """Return the edit that redo would make again: the newest that follows the head."""
    editing = bank.edits.exclude(verb__in=BankEdit.OUTSIDE_UNDO)
    return editing.filter(parent=bank.head_id).order_by("-version").first()


def findings(bank: NuggetBank) -> list[Finding]:
    """Return everything that keeps the bank from being finished."""
    most = bank.condition.protocol.max_nuggets
    listed = nuggets_in_order(bank)
    found = []
    for place, nugget in enumerate(listed, start=1):
        if not nugget.text:
            found.append(Finding(str(nugget.uid), f"Nugget {place} has no text."))
        if not nugget.importance:
            found.append(Finding(str(nugget.uid), f"Nugget {place} is neither vital nor okay yet."))
    if not listed:
        found.append(Finding("", "There is no nugget yet."))
    if len(listed) > most:
        found.append(Finding("", f"There are {len(listed)} nuggets; at most {most} can be handed in."))
    return found


def finished_banks(condition: Condition) -> QuerySet[NuggetBank]:
    """Return the finished banks of a condition, with their topics."""
    return NuggetBank.objects.filter(condition=condition, state=NuggetBank.State.FINISHED).select_related("topic")
