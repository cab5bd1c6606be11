"""The kind of task whose work is a nugget bank."""

from django.urls import reverse

from assessor.work.kinds import Kind
from assessor.work.models import Task
from nuggets.actions import prepare_bank


def _url(task: Task) -> str:
    return reverse("nugget_editor", args=[task.nugget_bank.pk])


NUGGETS = Kind(name="nuggets", items="nuggets", prepare=prepare_bank, url=_url, related="nugget_bank")
