"""Labels of people one by one, as they were given, beside what others gave the same items."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from django.db.models import Count

from assessor.campaigns.models import Condition
from assessor.labels.label_kind import LabelKind
from assessor.labels.models import Label
from assessor.llm.models import Job, Unit

if TYPE_CHECKING:
    from django.db.models import QuerySet

_AT_A_TIME = 2_000
Item = tuple[Any, ...]  # what is judged at once, such as an answer's key, and what of it is labelled


class LabelPaths(NamedTuple):
    """By which columns of a kind's labels it is found what they are of.

    judged: what names that which a person has before them at once; item: what of it is labelled. Both are alike under
    all conditions under which the same is labelled.
    """

    model: Any
    condition: str
    topic: str
    task: str
    judged: tuple[str, ...]
    item: tuple[str, ...]

    @classmethod
    def of_answers(cls, model: Any) -> Self:
        """Return those of labels whose judged answer has all of it."""
        return cls(model, "sheet__condition", "sheet__answer__topic", "sheet__task", ("sheet__answer",), model.ITEM)

    def given(self, conditions: Collection[int]) -> "QuerySet[Any]":
        """Return the labels that were given under conditions, by key; of topics that count."""
        rows: QuerySet[Any] = self.model.objects.filter(
            state=Label.State.GIVEN, **{f"{self.condition}__in": conditions}
        )
        return rows.exclude(**{f"{self.topic}__is_practice": True})


class GivenLabel(NamedTuple):
    """A label that a person gave. condition, topic, task: by key; seconds: None where not measured."""

    condition: int
    topic: int
    task: int
    value: str
    seconds: int | None
    at: datetime
    judged: Item
    item: Item

    @property
    def name(self) -> Item:
        """What is labelled, alike under all conditions."""
        return (*self.judged, *self.item)


class ModelLabels(NamedTuple):
    """What a model gave, by the key of the condition whose nuggets are labelled, 0 of none.

    condition: under which it did; values: by item; topics: which it has finished.
    """

    condition: Mapping[int, Condition]
    values: Mapping[int, Mapping[Item, str]]
    topics: Mapping[int, Collection[int]]


def labels_of_people(kind: LabelKind, conditions: Collection[int]) -> Iterator[GivenLabel]:
    """Yield the labels that people were asked for under conditions, by key, in the order in which they gave them."""
    paths = kind.label_paths()
    rows = paths.given(conditions).filter(**{f"{paths.task}__isnull": False}, at__isnull=False).exclude(kind.unasked)
    told = (paths.condition, paths.topic, paths.task, "value", "seconds", "at")
    columns = rows.order_by("at", "pk").values_list(*told, *paths.judged, *paths.item)
    judged = len(told) + len(paths.judged)
    for row in columns.iterator(_AT_A_TIME):
        yield GivenLabel._make((*row[: len(told)], row[len(told) : judged], row[judged:]))


def labels_of_models(kind: LabelKind, conditions: Sequence[Condition], topics: Collection[int]) -> ModelLabels:
    """Return a model's labels of what people label under conditions, on those of the topics that it has finished.

    Of several models it is that which gave most labels on these topics. topics: by key.
    """
    paths = kind.label_paths()
    own = {one.nuggets_id for one in conditions}
    of_kind = conditions[0].campaign.conditions.filter(kind=kind.name, sample="", of_passages=False)
    models = {
        one.pk: one
        for one in of_kind.select_related("judge")
        if one.is_a_models and not (one.judge and one.judge.is_rehearsal) and one.nuggets_id in own
    }
    given = paths.given(list(models)).filter(**{f"{paths.topic}__in": topics}).order_by()
    counts: dict[int, int] = dict(given.values_list(paths.condition).annotate(Count("pk")))
    # The one with most labels, of several the first one made.
    best = {models[pk].nuggets_id or 0: pk for pk in sorted(counts, key=lambda pk: (counts[pk], -pk))}
    units = Unit.objects.filter(job__condition__in=best.values(), state__in=(Unit.State.WAITING, Unit.State.CLAIMED))
    at_work = set(units.exclude(job__state=Job.State.CANCELLED).values_list("job__condition", "topic").distinct())
    values: dict[int, dict[Item, str]] = defaultdict(dict)
    finished: dict[int, set[int]] = defaultdict(set)
    columns = given.filter(**{f"{paths.condition}__in": best.values()})
    rows = columns.values_list(paths.condition, paths.topic, "value", *paths.judged, *paths.item)
    for condition, topic, value, *item in rows.iterator(_AT_A_TIME):
        if (condition, topic) not in at_work:
            nuggets = models[condition].nuggets_id or 0
            values[nuggets][tuple(item)] = value
            finished[nuggets].add(topic)
    return ModelLabels({nuggets: models[pk] for nuggets, pk in best.items()}, values, finished)


def counts_of_jobs(kind: LabelKind, jobs: Sequence[Job]) -> dict[int, dict[tuple[int, str], int]]:
    """Count the labels that jobs gave, by the job's key: by the topic's key and the label."""
    paths = kind.label_paths()
    # No key is 0: it is asked for so that a page takes as many queries without jobs as with some.
    conditions, keys = [0, *(job.condition_id for job in jobs)], [0, *(job.pk for job in jobs)]
    rows = paths.given(conditions).filter(job__in=keys).order_by()
    found: dict[int, dict[tuple[int, str], int]] = defaultdict(dict)
    for job, topic, value, number in rows.values_list("job", paths.topic, "value").annotate(Count("pk")):
        found[job][topic, value] = number
    return found
