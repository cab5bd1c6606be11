"""What pages read of practice: who did what, and how far it agrees with the reference."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.condition_kind import condition_kinds, kind_of
from assessor.campaigns.models import Campaign, Condition, QrelsSource, Topic
from assessor.labels.practice import Item
from assessor.training.models import Reference
from assessor.work.models import Task
from metaeval.stats.agreement import Agreement, confusion_matrix, rate_agreement


def references(conditions: Iterable[int]) -> dict[int, Reference]:
    """Return what practice under conditions, by key, is held against now, where it is held against anything."""
    told = Reference.objects.filter(condition__in=list(conditions)).select_related("reference", "grades")
    newest = {record.condition_id: record for record in told.order_by("pk")}
    return {pk: record for pk, record in newest.items() if record.reference_id or record.grades_id}


def possible_references(condition: Condition) -> list[Condition] | list[QrelsSource]:
    """Return what practice under a condition can be held against: people's labels, nuggets or grades, of a campaign.

    Grades are on its scale.
    """
    if kind_of(condition).makes_grades:
        sources = condition.campaign.qrels_sources.filter(by=QrelsSource.By.PEOPLE, max_grade=condition.max_grade)
        sources = sources.exclude(condition=condition)
        return list(sources.order_by("name"))
    others = condition.campaign.conditions.filter(kind=condition.kind, nuggets=condition.nuggets_id, sample="")
    others = others.exclude(pk=condition.pk).select_related("judge").order_by("name")
    return [other for other in others if other.is_peoples]


def worked_on(topics: Iterable[Topic]) -> set[int]:
    """Return the keys of those topics on which people or models have said anything here; files don't count."""
    among = list(topics)
    said = reduce(or_, (kind.has_work() for kind in condition_kinds()))
    return set(Topic.objects.filter(said, pk__in=[topic.pk for topic in among]).values_list("pk", flat=True))


class Compared(NamedTuple):
    """A task of practice beside the reference. agreement: None of nuggets, which are two lists and no labels.

    items: all that the person was asked about; missing: of these what the reference says nothing of.
    """

    task: Task
    items: list[Item]
    agreement: Agreement | None

    @property
    def pairs(self) -> int:
        """Of how many items both say something."""
        return sum(bool(item.label and item.reference) for item in self.items)

    @property
    def equal(self) -> int:
        """Of how many of these they say the same."""
        return sum(item.agrees is True for item in self.items)

    @property
    def percent(self) -> str:
        """What percent that is, to one place; "" of nothing."""
        return f"{self.equal * 100 / self.pairs:.1f}" if self.pairs else ""

    @property
    def reference_only(self) -> int:
        """How many nuggets the reference has."""
        return sum(bool(item.reference) for item in self.items)

    @property
    def own(self) -> int:
        """Of how many items the person said something."""
        return sum(bool(item.label) for item in self.items)


def compare(tasks: Sequence[Task], against: Mapping[int, Reference]) -> list[Compared]:
    """Hold tasks, some at once, against the references of their conditions (by key)."""
    found = []
    items: dict[int, list[Item]] = {}
    for kind in condition_kinds():
        of_kind = [task for task in tasks if task.kind == kind.name and task.condition_id in against]
        if of_kind:
            items |= kind.practice_items(of_kind, against)
    for task in tasks:
        if task.condition_id in against:
            labels = kind_of(task).labels
            found.append(Compared(task, items[task.pk], _agreement(items[task.pk], labels) if labels else None))
    return found


def _agreement(items: Iterable[Item], labels: Sequence[str]) -> Agreement:
    place = {label: at for at, label in enumerate(labels)}
    both = [(place[item.label], place[item.reference]) for item in items if item.label and item.reference]
    return rate_agreement(confusion_matrix([mine for mine, _ in both], [theirs for _, theirs in both], len(labels)))


def practised(campaign: Campaign) -> QuerySet[Task]:
    """Return the tasks of a campaign on topics for practice that were signed off, by person and topic."""
    tasks = campaign.tasks.filter(topic__is_practice=True, state=Task.State.FINISHED)
    return tasks.select_related("topic", "condition", "person").order_by("person__username", "condition__name", "topic")
