"""What people said on topics for practice, item by item, with what the reference says of the same."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from assessor.collection.models import Condition, Grade
from assessor.labels.models import JudgedAnswer
from assessor.relevance.models import RelevanceJudgment
from assessor.training.models import Reference
from assessor.work.models import Task
from assignment.formats import LABELS as ASSIGNMENT
from assignment.models import AnswerSheet
from nuggets.models import BankEdition, NuggetBank
from support.citations import LABELS
from support.models import SupportSheet

MOST_GRADE = 4  # that a campaign may have


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


Against = Mapping[int, Reference]
Items = dict[int, list[Item]]


class Kind(NamedTuple):
    """A kind of practice. labels: in ascending order, none where what people give is no label of a given item."""

    labels: Sequence[str]
    items: Callable[[Sequence[Task], Against], Items]


def _on_sheets(
    tasks: Sequence[Task],
    against: Against,
    mine: QuerySet[Any],
    labels: Sequence[str],
    asked: Callable[[Any], list[tuple[str, str]]],
) -> Items:
    """Return what stands on the sheets of tasks; asked: (key, text) of what a sheet asks."""
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


def _assigned(tasks: Sequence[Task], against: Against) -> Items:
    asked_of = AnswerSheet.objects.filter(task__in=tasks, by_rule=False).order_by("task", "place", "pk")
    mine = AnswerSheet.with_items(asked_of)
    editions = BankEdition.objects.filter(bank__in={sheet.bank_id for sheet in mine})
    nuggets = {(edition.bank_id, edition.edition): edition.nuggets for edition in editions}

    def asked(sheet: AnswerSheet) -> list[tuple[str, str]]:
        of_edition = nuggets[sheet.bank_id, sheet.edition]
        return [
            (str(nugget["id"]), nugget["text"])
            for nugget in of_edition
            if sheet.asked is None or nugget["id"] in sheet.asked
        ]

    return _on_sheets(tasks, against, mine, ASSIGNMENT, asked)


def _judged(tasks: Sequence[Task], against: Against) -> Items:
    mine = SupportSheet.with_items(SupportSheet.objects.filter(task__in=tasks).order_by("task", "place", "pk"))
    return _on_sheets(tasks, against, mine, LABELS, lambda sheet: [(key, "") for key in sheet.open])


def _graded(tasks: Sequence[Task], against: Against) -> Items:
    topics = {task.topic_id for task in tasks}
    sources = {reference.grades_id for reference in against.values()}
    said = Grade.objects.filter(source__in=sources, topic__in=topics).values_list("source", "topic", "docid", "grade")
    grades = {(source, topic, docid): str(grade) for source, topic, docid, grade in said}
    items: Items = {task.pk: [] for task in tasks}
    by_key = {task.pk: task for task in tasks}
    for judgment in RelevanceJudgment.objects.filter(task__in=tasks).order_by("position"):
        task = by_key[judgment.task_id or 0]
        theirs = grades.get((against[task.condition_id].grades_id or 0, task.topic_id, judgment.docid), "")
        is_graded = judgment.value is not None
        items[task.pk].append(Item(None, judgment.docid, "", judgment.value or "", theirs, not is_graded))
    return items


def _written(tasks: Sequence[Task], against: Against) -> Items:
    """Return the person's nuggets, then those of the reference: nobody can say which of them are the same."""
    of_condition = {reference.reference_id for reference in against.values()}
    topics = {task.topic_id for task in tasks}
    finished = NuggetBank.objects.filter(condition__in=of_condition, topic__in=topics)
    finished = finished.filter(state=NuggetBank.State.FINISHED).order_by("finished_at", "pk")
    theirs = {(bank.condition_id, bank.topic_id): bank for bank in finished}
    mine = {bank.task_id: bank for bank in NuggetBank.objects.filter(task__in=tasks)}
    banks = {bank.pk: bank for bank in (*theirs.values(), *mine.values())}
    nuggets = {
        edition.bank_id: edition.nuggets
        for edition in BankEdition.objects.filter(bank__in=banks)
        if edition.edition == banks[edition.bank_id].edition
    }
    items: Items = {}
    for task in tasks:
        own = nuggets.get(mine[task.pk].pk, []) if task.pk in mine else []
        reference = theirs.get((against[task.condition_id].reference_id or 0, task.topic_id))
        others = nuggets.get(reference.pk, []) if reference else []
        items[task.pk] = [Item(None, str(one["id"]), one["text"], one["importance"] or "not set", "") for one in own]
        items[task.pk] += [
            Item(None, str(one["id"]), one["text"], "", one["importance"] or "not set") for one in others
        ]
    return items


KINDS: dict[str, Kind] = {
    Condition.Kind.NUGGETS: Kind((), _written),
    Condition.Kind.ASSIGNMENT: Kind(tuple(reversed(ASSIGNMENT)), _assigned),
    Condition.Kind.SUPPORT: Kind(tuple(reversed(LABELS)), _judged),
    Condition.Kind.RELEVANCE: Kind([str(grade) for grade in range(MOST_GRADE + 1)], _graded),
}
