"""The only way to the feedback on practice for a person."""

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext_noop

from assessor.accounts.models import Person
from assessor.work.access import own_task
from assessor.work.models import Task


def own_practice(person: Person, task_id: int) -> Task:
    """Return a person's own task of practice that they have signed off. Raises Http404 for any other, and for none.

    Raises PermissionDenied while they have other work of the kind to do on the topic, which the feedback would spoil.
    """
    task = own_task(person, task_id)
    if not task.topic.is_practice or task.state != Task.State.FINISHED:
        raise Http404("There is no such feedback for you.")
    others = Task.objects.filter(person=person, topic=task.topic, kind=task.kind, state=Task.State.OPEN)
    if others.exists():
        raise PermissionDenied(
            gettext_noop(
                "You have more work of this kind to do on this topic. The feedback comes when all of it is signed off."
            )
        )
    return task
