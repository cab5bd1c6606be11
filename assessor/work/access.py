"""The only way to a task for a person."""

from django.core.exceptions import PermissionDenied
from django.http import Http404

from assessor.collection.models import Person
from assessor.collection.roles import ASSESSOR, has_role
from assessor.work.blindness import barred_from, has_seen
from assessor.work.models import Task


def own_task(person: Person, task_id: int) -> Task:
    """Return a task of this assessor. Raises Http404 for anybody else's, for a withdrawn one, and for none."""
    tasks = Task.objects.select_related("campaign", "topic", "condition__campaign", "condition__protocol")
    task = tasks.filter(pk=task_id, person=person).exclude(state=Task.State.WITHDRAWN).first()
    if task is None or not has_role(person, ASSESSOR):
        raise Http404("There is no such task for you.")
    return task


def require_blind(task: Task) -> None:
    """Raise PermissionDenied where the task's person has seen, since they got it, what they must not have seen."""
    if reason := barred_from(task.person, task.campaign):
        raise PermissionDenied(reason)
    if has_seen(task.person, [task.topic], task.condition):
        raise PermissionDenied(
            "You have seen what a language model gave on this topic for this kind of work, so you can't do it blind. "
            "Tell your organizer, who can give the topic to somebody else."
        )
