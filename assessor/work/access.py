"""The only way to a task for a person."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import connection
from django.db.models import BigIntegerField, BooleanField, IntegerField, Q
from django.db.models.expressions import RawSQL
from django.http import Http404

from assessor.collection.models import Condition, Person
from assessor.collection.roles import ASSESSOR, ORGANIZER, has_role
from assessor.work.blindness import FACTS, in_role, why_not_blind
from assessor.work.models import Task
from assessor.work.queries import queues_of

# What checked() must know: columns of the query that loads a task, in which it is work_task, so that this query is the
# only one. Written out, because to put such a query together takes Django three times as long as to ask it.
CHECKS = {
    "is_assessor": in_role(ASSESSOR),
    **FACTS,
    "guidelines_version": "(SELECT MAX(guidelines.version) FROM work_guidelinesopened opened"
    " JOIN work_guidelines guidelines ON guidelines.id = opened.guidelines_id"
    " WHERE opened.person_id = work_task.person_id AND guidelines.campaign_id = work_task.campaign_id"
    " AND guidelines.kind = work_task.kind)",
}
_NUMBERS = ("guidelines_version",)  # of CHECKS; the others are yes or no


class Row:
    """What a query told, taken from left to right."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = iter(values)

    def take(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the next values, by these names."""
        return {name: next(self._values) for name in names}

    def some(self, count: int) -> list[Any]:
        """Return the next so many values."""
        return [next(self._values) for _ in range(count)]


def record(model: Any, fields: dict[str, Any]) -> Any:
    """Return a record of which these fields were read, by the names of their columns."""
    names = [field.attname for field in model._meta.concrete_fields if field.attname in fields]
    return model.from_db(connection.alias, names, [fields[name] for name in names])


class GuidelinesUnopened(PermissionDenied):
    """A person has not opened the guidelines for a task of theirs, and is to do so before anything else."""

    def __init__(self, task: Task) -> None:
        super().__init__("Open the guidelines for this work first: they stand before your first topic.")
        self.task = task


class NotAmongOwn(Exception):
    """A sheet is not among those of the person's task, whether there is one or not; the text says so."""


def own_task(person: Person, task_id: int, *related: str) -> Task:
    """Return a task of this assessor. Raises Http404 for anybody else's, for a withdrawn one, and for none.

    related: what is read with it besides its campaign, topic, condition and protocol.
    """
    tasks = Task.objects.select_related("campaign", "topic", "condition__campaign", "condition__protocol", *related)
    told = {
        name: RawSQL(sql, (), output_field=IntegerField() if name in _NUMBERS else BooleanField())  # noqa: S611  # ours
        for name, sql in CHECKS.items()
    }
    task = tasks.filter(pk=task_id, person=person).annotate(**told).first()
    return checked(person, task, task)


def checked(person: Person, task: Task | None, record: Any) -> Task:
    """Return a task if it is this assessor's, with all that only this module tells of it. Raises Http404 as own_task().

    record: what was read with CHECKS, the task itself or one that belongs to it.
    """
    is_own = task is not None and task.person_id == person.pk and task.state != Task.State.WITHDRAWN
    if task is None or not is_own or not person.is_active or not record.is_assessor:
        raise Http404("There is no such task for you.")
    task.person = person
    task.not_blind = why_not_blind(task, record)
    task.guidelines_version = record.guidelines_version
    return task


def organized_task(person: Person, task_id: int, kind: Condition.Kind, *related: str) -> Task | None:
    """Return somebody else's task of a kind in a campaign that the person organizes, or None.

    related: what is read with it besides its campaign, topic and person.
    """
    if not has_role(person, ORGANIZER):
        return None
    organized = Q(campaign__organizers__person=person, campaign__organizers__until__isnull=True)
    tasks = Task.objects.select_related("campaign", "topic", "person", *related)
    found: Task | None = tasks.filter(organized, pk=task_id, kind=kind).exclude(person=person).first()
    return found


def own_queue(person: Person, condition_id: int) -> Condition:
    """Return a condition under which a person can draw topics. Raises Http404 for any other, and for none."""
    condition: Condition | None = queues_of(person).filter(pk=condition_id).first()
    if condition is None:
        raise Http404("There is no such queue for you.")
    return condition


def require_open_blind(task: Task) -> None:
    """Raise PermissionDenied where a task is still to be done and its person can't do it blind any more.

    It is GuidelinesUnopened where they have not opened the guidelines for it.
    """
    if task.state == Task.State.OPEN:
        require_blind(task)
        if task.guidelines_version is None:
            raise GuidelinesUnopened(task)


def require_running(task: Task) -> None:
    """Raise PermissionDenied where a task is paused. What was on its way to be saved is taken all the same."""
    if task.paused and task.state == Task.State.OPEN:
        raise PermissionDenied(
            "Your organizer has paused this topic. What you have done there is kept; it goes on from there once it is "
            "given free again."
        )


def sheet_rows(sql: str, person: Person, task_id: int, sheet_ids: Sequence[int]) -> list[Row]:
    """Return what a query tells of sheets of a person's own task: sql takes the person's key and the task's."""
    if not sheet_ids or max(task_id, *sheet_ids) > BigIntegerField.MAX_BIGINT:  # no database can even be asked for it
        return []
    marks = ", ".join(["%s"] * len(sheet_ids))
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} AND sheet.id IN ({marks})", [person.pk, task_id, *sheet_ids])  # marks alone
        return [Row(values) for values in cursor.fetchall()]


def require_blind(task: Task) -> None:
    """Raise PermissionDenied where the task's person has seen, since they got it, what they must not have seen."""
    if task.not_blind:
        raise PermissionDenied(task.not_blind)
