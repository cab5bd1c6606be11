"""What pages and tables read of a model's nuggets, and of what became of them in a person's hands."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db.models import Count, Prefetch, QuerySet

from assessor.campaigns.models import Condition, Topic
from assessor.campaigns.queries import byte_order, without_practice
from nuggets.draft_outcomes import Fate, Made, ends, sources
from nuggets.drafting import Step, brought_by
from nuggets.formats import is_question
from nuggets.models import BankEdit, Drafting, Nugget, NuggetBank
from nuggets.queries import folded, nuggets_in_order

FATES = tuple(fate.value for fate in Fate)
# The kinds of edit that are counted, each as often as it was made, also where it was taken back.
EDITS = ("reword", "vital", "okay", "move", "add", "delete", "merge", "split", "attach", "detach", "undo", "redo")


class DraftRow(NamedTuple):
    """A nugget of the model's list. window: which brought it, from 1, and docids are the segments in that.

    end: what became of it; became: the texts on the list in which it lives on, where it does not stand there itself.
    importance is what the model said, if it was asked or a file has it.
    """

    place: int
    text: str
    words: int
    is_question: bool
    same_as: int
    importance: str
    window: int
    docids: list[str]
    end: str
    became: list[str]


class ListedRow(NamedTuple):
    """A nugget on the list. drafts: the places in the model's list of those that live on in it; none: it was added."""

    place: int
    nugget: Nugget
    drafts: list[int]


class Tally(NamedTuple):
    """How a person dealt with drafts. ends: how many ended in which way; edits: how many were made of each kind."""

    drafts: int
    ends: dict[str, int]
    added: int
    listed: int
    edits: dict[str, int]
    seconds: int

    @property
    def seconds_per_draft(self) -> float:
        return round(self.seconds / self.drafts, 1)


class TopicRow(NamedTuple):
    """A topic of a condition on which a model made nuggets, with a bank of them, and how a person dealt with it."""

    topic: Topic
    drafting: Drafting
    bank: NuggetBank | None
    tally: Tally | None

    @property
    def vital(self) -> int:
        """How many nuggets on the bank's list are vital."""
        return sum(nugget.importance == "vital" for nugget in nuggets_in_order(self.bank)) if self.bank else 0


def draft_rows(bank: NuggetBank) -> list[DraftRow]:
    """Return the model's list behind a bank, with where each nugget of it came from and what became of it."""
    drafting = bank.drafting
    assert drafting is not None
    nuggets = {nugget.name: nugget for nugget in bank.nuggets.all()}
    steps = [Step(**step) for step in drafting.steps]
    first_place: dict[str, int] = {}
    rows = []
    found = zip(drafting.nuggets, drafting.labels, brought_by(steps), _ends(bank), strict=True)
    for place, (text, importance, step, (end, became)) in enumerate(found, start=1):
        first = first_place.setdefault(folded(text), place)
        rows.append(
            DraftRow(
                place=place,
                text=text,
                words=len(text.split()),
                is_question=is_question(text),
                same_as=first if first != place else 0,
                importance=importance,
                window=step + 1,
                docids=steps[step].docids,
                end=end,
                became=[nuggets[uid].text for uid in became if nuggets[uid].draft != place or end == Fate.EDITED.value],
            )
        )
    return rows


def listed_rows(bank: NuggetBank) -> list[ListedRow]:
    """Return the nuggets on a bank's list, each with the drafts behind it."""
    drafts = sources(_made(bank), bank.order)
    return [ListedRow(place, one, drafts[one.name]) for place, one in enumerate(nuggets_in_order(bank), start=1)]


def tally(bank: NuggetBank, edits: Counter[str]) -> Tally:
    """Count how a person dealt with the drafts of a bank."""
    made = _made(bank)
    assert bank.drafting is not None
    assert bank.task is not None
    fates = Counter(end for end, _ in _ends(bank))
    return Tally(
        drafts=len(bank.drafting.nuggets),
        ends={fate: fates[fate] for fate in FATES},
        added=sum(not drafts for drafts in sources(made, bank.order).values()),
        listed=len(bank.order),
        edits={verb: edits[verb] for verb in EDITS},
        seconds=bank.task.seconds,
    )


def edit_counts(banks: Iterable[NuggetBank]) -> dict[int, Counter[str]]:
    """Return how many edits of each kind were made to banks, by the bank's key."""
    found: dict[int, Counter[str]] = {bank.pk: Counter() for bank in banks}
    edits = BankEdit.objects.filter(bank__in=list(found), verb__in=EDITS).order_by()
    counted = edits.values("bank", "verb").annotate(count=Count("pk"))
    for bank_id, verb, count in counted.values_list("bank", "verb", "count"):
        found[bank_id][verb] = count
    return found


def draftings(condition: Condition) -> QuerySet[Drafting]:
    """Return what a model made under a condition, by topic id, with the banks that came of it; not for practice."""
    banks = NuggetBank.objects.select_related("task__person", "topic").order_by("pk").prefetch_related("nuggets")
    found: QuerySet[Drafting] = without_practice(condition.draftings.all())
    found = found.select_related("topic").order_by(byte_order("topic__qid"))
    return found.prefetch_related(Prefetch("banks", banks))


def topic_rows(draftings: Sequence[Drafting]) -> list[TopicRow]:
    """Return a row for each bank that came of what a model made, and one where none did yet."""
    edits = edit_counts(bank for drafting in draftings for bank in drafting.banks.all())
    rows = []
    for drafting in draftings:
        for bank in drafting.banks.all() or [None]:
            dealt = tally(bank, edits[bank.pk]) if bank and bank.task_id else None
            rows.append(TopicRow(drafting.topic, drafting, bank, dealt))
    return rows


def _made(bank: NuggetBank) -> dict[str, Made]:
    return {
        one.name: Made(one.text, one.origin, one.parents, one.draft, one.is_undecided) for one in bank.nuggets.all()
    }


def _ends(bank: NuggetBank) -> list[tuple[str, list[str]]]:
    """Return what became of each draft, in the model's order, and the nuggets on the list in which it lives on."""
    assert bank.drafting is not None
    kept = {nugget.draft: nugget.name for nugget in bank.nuggets.all()}
    # The model's own bank has the best of its list.
    if bank.task_id is None and not kept.keys() >= set(_places(bank.drafting)):
        return [("kept", [kept[at]]) if at in kept else ("left out", []) for at in _places(bank.drafting)]
    return [(end.fate.value, end.became) for end in ends(bank.drafting.nuggets, _made(bank), bank.order)]


def _places(drafting: Drafting) -> range:
    return range(1, len(drafting.nuggets) + 1)
