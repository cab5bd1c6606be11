"""The kind of task whose work is labelling a topic's answers."""

from collections.abc import Sequence

from django.urls import reverse

from assessor.collection.models import Condition, Topic
from assessor.work.kinds import Kind
from assessor.work.models import Task
from assignment.actions import prepare_sheets, renew_sheets
from assignment.models import Opinion
from assignment.queries import finished_banks


def _url(task: Task) -> str:
    return reverse("assignment", args=[task.pk])


def _refusal(condition: Condition, topics: Sequence[Topic]) -> str | None:
    """People assign the nuggets of finished banks, under conditions made for it."""
    if condition.nuggets is None or not Opinion.objects.filter(condition=condition).exists():
        return f"Nobody can be given {condition.name}: its labels are not given by people here."
    finished = finished_banks(condition.nuggets, topics)
    if lacking := sorted(topic.qid for topic in topics if topic.pk not in finished):
        return f"The nuggets of {', '.join(lacking)} under {condition.nuggets} are not finished."
    return None


ASSIGNMENT = Kind(
    name="assignment",
    items="answers",
    prepare=prepare_sheets,
    renew=renew_sheets,
    url=_url,
    related="condition",
    refusal=_refusal,
)
