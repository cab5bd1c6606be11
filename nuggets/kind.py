"""The kind of task whose work is a nugget bank."""

from collections.abc import Sequence

from django.urls import reverse

from assessor.collection.models import Condition, Topic
from assessor.work.kinds import Kind
from assessor.work.models import Task
from nuggets.actions import prepare_bank


def _url(task: Task) -> str:
    return reverse("nugget_editor", args=[task.nugget_bank.pk])


def _refusal(condition: Condition, topics: Sequence[Topic]) -> str | None:
    """People can't write nuggets that a model or a file gives, nor edit drafts that are not there yet."""
    if condition.method == Condition.Method.MANUAL_NUGGETS:
        return None
    if condition.method != Condition.Method.AUTO_NUGGETS_EDITS:
        return f"Nobody can be given {condition.name}: its nuggets are not written by people here."
    drafted = set(condition.draftings.filter(topic__in=topics).values_list("topic_id", flat=True))
    if lacking := sorted(topic.qid for topic in topics if topic.pk not in drafted):
        return f"Under {condition.name} there are no drafts yet on {', '.join(lacking)}: have them made first."
    return None


NUGGETS = Kind(name="nuggets", items="nuggets", prepare=prepare_bank, url=_url, related="nugget_bank", refusal=_refusal)
