"""The only way to a topic's passages for a person."""

from collections.abc import Iterable
from typing import NamedTuple

from django.http import Http404

from assessor.accounts.models import Person
from assessor.relevance.label_kind import RELEVANCE
from assessor.relevance.models import RelevanceJudgment
from assessor.relevance.queries import items_of, theirs
from assessor.runtime.sql import Parameter, Prepared
from assessor.work.access import NotAmongOwn, organized_task, own_task, require_blind, require_open_blind
from assessor.work.models import Task

_PASSAGE = Prepared(
    RelevanceJudgment.objects.filter(condition=Parameter("condition"), topic=Parameter("topic"), pk=Parameter("pk"))
)


def own_passages(person: Person, task_id: int) -> Task:
    """Return a person's own task of relevance, to look at. Raises Http404 for anybody else's and for none.

    Raises PermissionDenied where it is still to be done and the person can't do it blind any more.
    """
    task = own_task(person, task_id, "condition__manual_setup", "condition__grades_made")
    if task.kind != RELEVANCE.name:
        raise Http404("There are no such passages for you.")
    require_open_blind(task)
    return task


def own_grading(person: Person, task_id: int) -> Task:
    """Return a person's own task of relevance, to work on, were it only to take something back. Raises as above."""
    task = own_passages(person, task_id)
    require_blind(task)
    return task


class OwnPassage(NamedTuple):
    """A passage of a person's own task: what stands of it."""

    sheet: RelevanceJudgment
    task: Task


def own_passage(person: Person, task_id: int, pk: int) -> OwnPassage:
    """Return a passage of a person's own topic, to work on: whose it is now, the write itself finds out.

    Raises Http404, PermissionDenied, and NotAmongOwn where the topic has no such passage.
    """
    task = own_grading(person, task_id)
    return _passage(task, _PASSAGE.fetch(condition=task.condition_id, topic=task.topic_id, pk=pk))


def shown_passage(person: Person, task_id: int, pk: int) -> OwnPassage:
    """Return a passage that a person has judged or can judge now, to be looked at. Raises as above."""
    task = own_passages(person, task_id)
    return _passage(task, items_of(task).filter(theirs(task), pk=pk))


def _passage(task: Task, found: Iterable[RelevanceJudgment]) -> OwnPassage:
    passage = next(iter(found), None)
    if passage is None:
        raise NotAmongOwn("This passage is not, or no longer, among those that you have to judge here.")
    return OwnPassage(passage, task)


def organized_passages(person: Person, task_id: int) -> Task:
    """Return somebody else's task of relevance in a campaign that the person organizes. Raises Http404."""
    related = ("condition__campaign", "condition__judge", "condition__qrels_source__condition__judge")
    return organized_task(person, task_id, [RELEVANCE.name], "passages", *related)
