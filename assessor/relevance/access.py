"""The only way to a topic's passages for a person."""

from django.http import Http404

from assessor.collection.models import Condition, Person
from assessor.work.access import organized_task, own_task, require_blind, require_open_blind
from assessor.work.models import Task


def own_passages(person: Person, task_id: int) -> Task:
    """Return a person's own task of relevance, to look at. Raises Http404 for anybody else's and for none.

    Raises PermissionDenied where it is still to be done and the person can't do it blind any more.
    """
    task = own_task(person, task_id, "condition__relevance_sheet", "condition__grades_made")
    if task.kind != Condition.Kind.RELEVANCE:
        raise Http404("There are no such passages for you.")
    require_open_blind(task)
    return task


def own_grading(person: Person, task_id: int) -> Task:
    """Return a person's own task of relevance, to work on, were it only to take something back. Raises as above."""
    task = own_passages(person, task_id)
    require_blind(task)
    return task


def organized_passages(person: Person, task_id: int) -> Task:
    """Return somebody else's task of relevance in a campaign that the person organizes. Raises Http404."""
    related = ("condition__campaign", "condition__judge", "condition__qrels_source__condition__judge")
    task = organized_task(person, task_id, Condition.Kind.RELEVANCE, *related)
    if task is None:
        raise Http404("There are no such passages in a campaign of yours.")
    return task
