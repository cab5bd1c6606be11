"""The kind of task whose work is a nugget bank."""

from collections.abc import Sequence

from django.urls import reverse

from assessor.collection.models import Condition, Topic
from assessor.work.kinds import Kind, Lacking
from assessor.work.models import Task
from nuggets.actions import prepare_bank


def _url(task: Task) -> str:
    return reverse("nugget_editor", args=[task.nugget_bank.pk])


def _refusal(condition: Condition) -> str | None:
    """People can't write nuggets that a model or a file gives."""
    if condition.method in (Condition.Method.MANUAL_NUGGETS, Condition.Method.AUTO_NUGGETS_EDITS):
        return None
    return f"Nobody can be given {condition.name}: its nuggets are not written by people here."


def _lacking(condition: Condition, topics: Sequence[Topic]) -> Lacking:
    """People can't edit drafts that are not there yet."""
    found: set[int] = set()
    if condition.method == Condition.Method.AUTO_NUGGETS_EDITS:
        drafted = set(condition.draftings.filter(topic__in=topics).values_list("topic_id", flat=True))
        found = {topic.pk for topic in topics} - drafted
    return Lacking(
        found, lambda qids: f"Under {condition.name} there are no drafts yet on {qids}: have them made first."
    )


NUGGETS = Kind(
    name="nuggets",
    items="nuggets",
    prepare=prepare_bank,
    url=_url,
    related="nugget_bank",
    refusal=_refusal,
    lacking=_lacking,
)
