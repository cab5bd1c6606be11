"""The kind of task whose work is labelling a topic's answers."""

from collections.abc import Sequence

from django.urls import reverse

from assessor.collection.models import Condition, Topic
from assessor.labels.models import ManualSetup
from assessor.work.kinds import Kind, Lacking
from assessor.work.models import Task
from assignment.actions import follow_scope, prepare_sheets, renew_sheets
from assignment.models import AnswerSheet
from assignment.queries import finished_banks


def _url(task: Task) -> str:
    return reverse("assignment", args=[task.pk])


def _refusal(condition: Condition) -> str | None:
    """People assign nuggets under conditions made for it."""
    if condition.nuggets is None or not ManualSetup.objects.filter(condition=condition).exists():
        return f"Nobody can be given {condition.name}: its labels are not given by people here."
    return None


def _lacking(condition: Condition, topics: Sequence[Topic]) -> Lacking:
    """People assign the nuggets of finished banks."""
    assert condition.nuggets is not None, "an assignment condition has one of nuggets"
    found = {topic.pk for topic in topics} - set(finished_banks(condition.nuggets, topics))
    return Lacking(found, lambda qids: f"The nuggets of {qids} under {condition.nuggets} are not finished.")


ASSIGNMENT = Kind(
    name="assignment",
    items="answers",
    prepare=prepare_sheets,
    renew=renew_sheets,
    url=_url,
    related="condition",
    refusal=_refusal,
    lacking=_lacking,
    sheets=AnswerSheet,
    follow_scope=follow_scope,
)
