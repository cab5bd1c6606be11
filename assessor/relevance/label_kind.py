"""All that differs where labels grade the passages of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assessor.collection.models.grades import SCALES
from assessor.labels.label_kind import LabelKind

if TYPE_CHECKING:
    from assessor.collection.models import Condition
    from assessor.work.models import Task


class Relevance(LabelKind):
    """A passage."""

    name = "relevance"
    title = "Relevance"
    instruction = "Grade how well each passage answers the question."
    items = counted = "passages"
    job = "UMBRELA"
    blind_method = "manual relevance"
    labels = tuple(str(grade) for grade in range(max(SCALES) + 1))
    makes_grades = True

    def prepare(self, task: Task) -> None:
        from assessor.relevance.actions import prepare_items

        prepare_items(task)

    def renew(self, task: Task) -> None:
        from assessor.relevance.actions import renew_items

        renew_items(task)

    def is_shared(self, condition: Condition) -> bool:
        from assessor.labels.models import ManualSetup

        return ManualSetup.objects.filter(condition=condition, from_queue=True).exists()


RELEVANCE = Relevance()
