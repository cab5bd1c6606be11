"""All that differs where conditions are about nuggets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.urls import reverse

from assessor.collection.condition_kinds import ConditionKind, Lacking

if TYPE_CHECKING:
    from assessor.collection.models import Condition, Topic
    from assessor.work.models import Task


class Nuggets(ConditionKind):
    """Banks of nuggets, a person's or a model's, one on a topic."""

    name = "nuggets"
    title = "Nuggets"
    instruction = "List the facts that a good answer needs, from the passages."
    counted = "nuggets"
    makes_nuggets = True
    related = "nugget_bank"

    def prepare(self, task: Task) -> None:
        from nuggets.actions import prepare_bank

        prepare_bank(task)

    def url(self, task: Task) -> str:
        return reverse("nugget_editor", args=[task.nugget_bank.pk])

    def closed(self, condition: Condition) -> str | None:
        """People can't write nuggets that a model or a file gives."""
        if condition.method in (condition.Method.MANUAL_NUGGETS, condition.Method.AUTO_NUGGETS_EDITS):
            return None
        return f"Nobody can be given {condition.name}: its nuggets are not written by people here."

    def lacking(self, condition: Condition, topics: Sequence[Topic]) -> Lacking:
        """People can't edit drafts that are not there yet."""
        found: set[int] = set()
        if condition.method == condition.Method.AUTO_NUGGETS_EDITS:
            drafted = set(condition.draftings.filter(topic__in=topics).values_list("topic_id", flat=True))
            found = {topic.pk for topic in topics} - drafted
        return Lacking(
            found, lambda qids: f"Under {condition.name} there are no drafts yet on {qids}: have them made first."
        )


NUGGETS = Nuggets()
