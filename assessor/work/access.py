"""The only way to a task for a person."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from django.http import Http404

from assessor.collection.models import Person
from assessor.collection.roles import ASSESSOR
from assessor.work.blindness import FACTS, in_role, why_not_blind
from assessor.work.models import Task

# What checked() must know: columns of the query that loads a task, in which it is work_task, so that this query is the
# only one. Written out, because to put such a query together takes Django three times as long as to ask it.
CHECKS = {"is_assessor": in_role(ASSESSOR), **FACTS}


class NotAmongOwn(Exception):
    """A sheet is not among those of the person's task, whether there is one or not; the text says so."""


def own_task(person: Person, task_id: int) -> Task:
    """Return a task of this assessor. Raises Http404 for anybody else's, for a withdrawn one, and for none."""
    tasks = Task.objects.select_related("campaign", "topic", "condition__campaign", "condition__protocol")
    told = {name: RawSQL(sql, (), output_field=BooleanField()) for name, sql in CHECKS.items()}  # noqa: S611  # ours
    task = tasks.filter(pk=task_id, person=person).annotate(**told).first()
    return checked(person, task, task)


def checked(person: Person, task: Task | None, record: Any) -> Task:
    """Return a task if it is this assessor's, with what keeps them from doing it blind. Raises Http404 as own_task().

    record: what was read with CHECKS, the task itself or one that belongs to it.
    """
    is_own = task is not None and task.person_id == person.pk and task.state != Task.State.WITHDRAWN
    if task is None or not is_own or not person.is_active or not record.is_assessor:
        raise Http404("There is no such task for you.")
    task.person = person
    task.not_blind = why_not_blind(task, record)
    return task


def require_blind(task: Task) -> None:
    """Raise PermissionDenied where the task's person has seen, since they got it, what they must not have seen."""
    if task.not_blind:
        raise PermissionDenied(task.not_blind)
