"""Small things that templates say."""

from django import template

from assessor.campaigns.condition_kind import kind_of
from assessor.imports.loaders import LOADERS
from assessor.work.models import Task

register = template.Library()


@register.filter
def task_url(task: Task) -> str:
    """Return where to go on with a task."""
    return kind_of(task).url(task)


@register.filter
def kind_label(kind: str) -> str:
    """Return what a kind of import is called."""
    return LOADERS[kind].label
