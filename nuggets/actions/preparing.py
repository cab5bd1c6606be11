"""A bank for a person to fill."""

from assessor.collection.actions import judge_of
from assessor.work.models import Task
from nuggets.models import NuggetBank


def prepare_bank(task: Task) -> None:
    """Make the empty bank that a task's person will fill."""
    NuggetBank.objects.create(topic=task.topic, condition=task.condition, maker=judge_of(task.person), task=task)
