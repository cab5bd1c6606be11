"""Small things that templates say."""

from django import template

from assessor.work.kinds import kind_of
from assessor.work.models import Task

register = template.Library()


@register.filter
def task_url(task: Task) -> str:
    """Return where to go on with a task."""
    return kind_of(task).url(task)
