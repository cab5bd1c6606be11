"""The kind of task whose work is judging the citations of a topic's answers."""

from django.urls import reverse

from assessor.collection.models import Condition
from assessor.labels.models import ManualSetup
from assessor.work.kinds import Kind
from assessor.work.models import Task
from support.actions import follow_scope, prepare_sheets, renew_sheets
from support.models import SupportSheet


def _url(task: Task) -> str:
    return reverse("support", args=[task.pk])


def _refusal(condition: Condition) -> str | None:
    """People judge under conditions made for it."""
    if not ManualSetup.objects.filter(condition=condition).exists():
        return f"Nobody can be given {condition.name}: its labels are not given by people here."
    return None


SUPPORT = Kind(
    name="support",
    items="citations",
    prepare=prepare_sheets,
    renew=renew_sheets,
    url=_url,
    related="condition",
    refusal=_refusal,
    sheets=SupportSheet,
    follow_scope=follow_scope,
)
