"""What people said on topics for practice, item by item, with what the reference says of the same."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.models import Answer
from assessor.labels.models import JudgedAnswer
from assessor.work.models import Task

if TYPE_CHECKING:
    from assessor.training.models import Reference


class Item(NamedTuple):
    """An item of practice. answer: by key, where it is of one; label, reference: "" where there is none.

    cannot: the person said that it can't be judged. Of a nugget the label is what its maker said of its importance.
    """

    answer: int | None
    key: str
    text: str
    label: str
    reference: str
    cannot: bool = False

    @property
    def agrees(self) -> bool | None:
        """Whether both say the same; None where one of them says nothing."""
        return self.label == self.reference if self.label and self.reference else None


Against = Mapping[int, "Reference"]  # by condition's key
Items = dict[int, list[Item]]  # by task's key
OfAnswers = Sequence[tuple[int | None, list[Item]]]  # by answer's key, where there is one


class Row(NamedTuple):
    """An item with what it is about; passage: the text that is cited or graded, where one is."""

    item: Item
    text: str
    passage: str


class Group(NamedTuple):
    """Items of one answer, or all of a topic (answer "")."""

    answer: str
    rows: list[Row]


def items_of_answers(
    tasks: Sequence[Task],
    against: Against,
    mine: QuerySet[Any],
    labels: Sequence[str],
    asked: Callable[[Any], list[tuple[str, str]]],
) -> Items:
    """Return the items of judged answers of tasks; asked: (key, text) of what one asks."""
    of_condition = {reference.reference_id for reference in against.values()}
    answers = {sheet.answer_id for sheet in mine}
    found: dict[tuple[int, int], list[JudgedAnswer]] = defaultdict(list)
    model: Any = mine.model
    theirs = model.objects.filter(condition__in=of_condition, answer__in=answers).order_by("pk")
    for sheet in model.with_items(theirs):
        found[sheet.condition_id, sheet.answer_id].append(sheet)
    items: Items = {task.pk: [] for task in tasks}
    conditions = {task.pk: task.condition_id for task in tasks}
    for sheet in mine:
        others = found[against[conditions[sheet.task_id]].reference_id or 0, sheet.answer_id]
        for key, text in asked(sheet):
            said = [label for other in others if (label := sheet.label_of(other, key)) in labels]
            items[sheet.task_id].append(
                Item(
                    sheet.answer_id, key, text, sheet.labels.get(key, ""), said[0] if said else "", key in sheet.cannot
                )
            )
    return items


def groups_of_answers(of_answers: OfAnswers) -> list[Group]:
    """Return items with the texts of their answers. No run is named."""
    answers = Answer.objects.in_bulk([answer for answer, _ in of_answers if answer])
    return [
        Group(
            " ".join(sentence["text"] for sentence in answers[pk].content) if pk else "",
            [Row(item, item.text or item.key, "") for item in items],
        )
        for pk, items in of_answers
    ]
