"""What all kinds of label have to say of themselves: each label app has one object of it, in its label_kind.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assessor.collection.condition_kinds import ConditionKind, condition_kinds, kind_named

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import Model, QuerySet

    from assessor.collection.models import Campaign, Condition
    from assessor.exportables import Chosen
    from assessor.labels.cutoff import Cell
    from assessor.labels.questions import Asked, Place, Question
    from assessor.labels.steps import Step
    from assessor.studies.models import Drawn


class LabelKind(ConditionKind):
    """A kind of label: its vocabulary, its work on a screen, and how its labels are scored, exported and studied."""

    item: str  # what gets a label: "nugget"
    item_heading: str  # of a table's column of items
    job: str  # the kind of job in which a model gives them
    comparison_page = ""  # the name of the address where labels of two conditions are side by side
    questions_page = ""  # the name of its address, where what people left open is settled

    @property
    def items(self) -> str:
        """What gets a label, in the plural."""
        return f"{self.item}s"

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        from assessor.labels.cutoff import cells_of_answers

        return cells_of_answers(chosen, at)

    def missing(self, condition: Condition) -> Iterator[str]:
        from assessor.labels.completeness import missing_in_answers

        return missing_in_answers(condition, self.reopened(condition))

    def reopened(self, condition: Condition) -> Iterator[str]:
        """Say what of that which a condition's labels are given for is being changed."""
        return iter(())

    def state(self, condition: Condition) -> tuple[Any, ...]:
        from assessor.scores.kept import state_of

        return state_of(condition)

    # What people left open

    def open_questions(self, campaign: Campaign) -> Iterator[Asked]:
        """Yield what assessors ask now in a campaign."""
        from assessor.labels.questions import open_on_answers

        return open_on_answers(self, campaign)

    def left_out(self, campaign: Campaign) -> set[tuple[int, str]]:
        """Return which items are left out of scores for all runs: the condition's key, and the item's."""
        return set()

    def described(self, places: Sequence[Place]) -> Mapping[Place, tuple[str, str]]:
        """Return what items are, in words that their assessor may read, and apart the run, which they may not."""
        from assessor.labels.questions import described_on_answers

        return described_on_answers(self.sheets, places, self.texts_of)

    def texts_of(self, questions: Sequence[Question]) -> Iterable[str]:
        """Return what questions are about, in their order."""
        raise NotImplementedError

    def waiting_for_a_model(self, campaign: Campaign) -> Mapping[int, int]:
        """Count by task's key the items that can't be judged because a model gave them no label."""
        return {}

    # The way of one label

    def has_item(self, sheet: Any, item: str) -> bool:
        """Say whether a judged answer is or was about an item of this key."""
        return item in sheet.asked

    def item_history(self, sheet: Any, item: str) -> tuple[str, Iterable[Step]]:
        """Return what an item is, in words, and how it came to be."""
        raise NotImplementedError

    def drawn_as(self, sheet: Any, item: str) -> QuerySet[Drawn]:
        """Return what studies drew of a judged answer that is this item."""
        raise NotImplementedError

    def item_model(self) -> type[Model] | None:
        """Return the model by whose keys items are called; None where they have names that hold everywhere."""
        return None

    def event_note(self, event: Any) -> str:
        """Return what its history says of an event besides what changed."""
        return ""

    def code(self, sheet: Any, item: str) -> int | None:
        """Return the place in `labels` of the one that counts: another person's where this one could judge none."""
        label = sheet.labels.get(item) or sheet.adopted.get(item)
        return self.labels.index(label) if label in self.labels else None


def label_kinds() -> list[LabelKind]:
    """Return all kinds of label, in the order of INSTALLED_APPS."""
    return [kind for kind in condition_kinds() if isinstance(kind, LabelKind)]


def label_kind(name: str) -> LabelKind:
    """Return the kind of label of this name. Raises KeyError."""
    kind = kind_named(name)
    if not isinstance(kind, LabelKind):
        raise KeyError(name)
    return kind
