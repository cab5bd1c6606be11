"""The only way to a topic's passages for a person."""

from django.db.models import Q
from django.http import Http404

from assessor.collection.models import Condition, Person
from assessor.collection.roles import ORGANIZER, has_role
from assessor.work.access import own_task, require_blind
from assessor.work.models import Task


def own_passages(person: Person, task_id: int) -> Task:
    """Return a person's own task of relevance, to look at. Raises Http404 for anybody else's and for none.

    Raises PermissionDenied where it is still to be done and the person can't do it blind any more.
    """
    task = own_task(person, task_id)
    if task.kind != Condition.Kind.RELEVANCE:
        raise Http404("There are no such passages for you.")
    if task.state == Task.State.OPEN:
        require_blind(task)
    return task


def own_grading(person: Person, task_id: int) -> Task:
    """Return a person's own task of relevance, to work on, were it only to take something back. Raises as above."""
    task = own_passages(person, task_id)
    require_blind(task)
    return task


def organized_passages(person: Person, task_id: int) -> Task:
    """Return somebody else's task of relevance in a campaign that the person organizes. Raises Http404."""
    organized = Q(campaign__organizers__person=person, campaign__organizers__until__isnull=True)
    tasks = Task.objects.select_related(
        "campaign",
        "topic",
        "person",
        "condition__campaign",
        "condition__judge",
        "condition__qrels_source__condition__judge",
    )
    tasks = tasks.filter(organized, pk=task_id, kind=Condition.Kind.RELEVANCE).exclude(person=person)
    task = tasks.first() if has_role(person, ORGANIZER) else None
    if task is None:
        raise Http404("There are no such passages in a campaign of yours.")
    return task
