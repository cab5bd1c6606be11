"""The kind of task whose work is grading a topic's passages."""

from django.urls import reverse

from assessor.collection.models import Condition
from assessor.labels.models import ManualSetup
from assessor.relevance.actions import prepare_items, renew_items
from assessor.work.kinds import Kind
from assessor.work.models import Task


def _url(task: Task) -> str:
    return reverse("relevance", args=[task.pk])


def _is_drawn(condition: Condition) -> bool:
    return ManualSetup.objects.filter(condition=condition, from_queue=True).exists()


RELEVANCE = Kind(
    name="relevance",
    items="passages",
    prepare=prepare_items,
    renew=renew_items,
    url=_url,
    related="condition",
    shared=_is_drawn,
)
