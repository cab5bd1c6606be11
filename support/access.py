"""The only way to support sheets for a person.

An assessor's sheets are read through their own task and never by answer or run: not even the key of an answer, which
follows the order of imports, is read with them, and of no sheet but their own. A model's label is read in one place
alone, shown_label(), for the citation that is on screen.
"""

import json
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import BigIntegerField, Q
from django.http import Http404

from assessor.collection.models import Answer, Condition, Person, Sentence
from assessor.collection.roles import ORGANIZER, has_role
from assessor.work.access import CHECKS, NotAmongOwn, checked, own_task, require_blind
from assessor.work.models import Task
from support.citations import LABELS, places
from support.models import SupportSheet


class OwnSheet(NamedTuple):
    """A support sheet of the person who asks, with its task and the answer that it is about."""

    sheet: SupportSheet
    task: Task
    sentences: list[Sentence]
    shown_condition: int | None  # whose labels stand beside the choices; none: from scratch

    @property
    def open(self) -> list[str]:
        """The citations that the person can judge, in the answer's order."""
        closed = {*self.sheet.unresolved, *self.sheet.waiting}
        return [key for key in self.sheet.asked if key not in closed]

    def docid(self, key: str) -> str:
        """Return what one of the citations points to."""
        sentence, citation = places(key)
        return self.sentences[sentence].citations[citation].docid


# All that is read for an assessor's screen. It is written out because Django takes 3.5 ms to put such a query together,
# when all that happens between a label and the next citation may take 8.
_SHEET = ("id", "task_id", "judge_id", "put_off", "version", "to_do")
_SAID = ("asked", "unresolved", "waiting", "labels", "cannot", "flags", "shown")
_TASK = ("id", "campaign_id", "topic_id", "condition_id", "person_id", "kind", "state")
_SQL = f"""
    SELECT {", ".join(f"sheet.{name}" for name in (*_SHEET, *_SAID))},
        {", ".join(f"work_task.{name}" for name in _TASK)},
        answer.content, answer."references", collection_condition.shown_id, {", ".join(CHECKS.values())}
    FROM support_supportsheet sheet
    JOIN work_task ON work_task.id = sheet.task_id
    JOIN collection_answer answer ON answer.id = sheet.answer_id
    JOIN collection_condition ON collection_condition.id = sheet.condition_id
    WHERE work_task.person_id = %s AND work_task.id = %s
"""  # noqa: S608  # names of our own tables


def own_sheet(person: Person, task_id: int, sheet_id: int) -> OwnSheet:
    """Return a support sheet of a person's own task, in one query.

    Raises Http404 where the task isn't theirs, NotAmongOwn where the sheet isn't the task's, and PermissionDenied where
    it is still to be done and they can't do it blind any more.
    """
    found = _read(person, task_id, [sheet_id])
    if not found:
        own_judging(person, task_id)
        raise NotAmongOwn("This answer is not, or no longer, among those that you have to judge here.")
    return found[0]


def own_sheets(task: Task, sheet_ids: Sequence[int]) -> list[OwnSheet]:
    """Return support sheets of the task's person, of a task that own_judging() returned, in this order."""
    found = {own.sheet.pk: own for own in _read(task.person, task.pk, sheet_ids)}
    return [found[pk] for pk in sheet_ids if pk in found]


def own_judging(person: Person, task_id: int) -> Task:
    """Return a person's own task of support. Raises Http404 for anybody else's and for none.

    Raises PermissionDenied where it is still to be done and the person can't do it blind any more.
    """
    task = own_task(person, task_id)
    if task.kind != Condition.Kind.SUPPORT:
        raise Http404("There are no such citations for you.")
    if task.state == Task.State.OPEN:
        require_blind(task)
    return task


def organized_judging(person: Person, task_id: int) -> Task:
    """Return somebody else's task of support in a campaign that the person organizes. Raises Http404."""
    organized = Q(campaign__organizers__person=person, campaign__organizers__until__isnull=True)
    tasks = Task.objects.select_related("campaign", "topic", "person", "condition__judge", "condition__shown__judge")
    tasks = tasks.filter(organized, pk=task_id, kind=Condition.Kind.SUPPORT).exclude(person=person)
    task = tasks.first() if has_role(person, ORGANIZER) else None
    if task is None:
        raise Http404("There are no such citations in a campaign of yours.")
    return task


def shown_label(own: OwnSheet, key: str) -> str | None:
    """Return the model's label of a citation that is on the person's screen now; None where it gave none.

    Whoever calls this records that the person has seen it.
    """
    if own.shown_condition is None:
        return None
    same_answer = SupportSheet.objects.filter(pk=own.sheet.pk).values("answer")
    of_model = SupportSheet.objects.filter(condition=own.shown_condition, answer__in=same_answer)
    labels = of_model.values_list("labels", flat=True).first() or {}
    return labels[key] if labels.get(key) in LABELS else None


def _read(person: Person, task_id: int, sheet_ids: Sequence[int]) -> list[OwnSheet]:
    if not sheet_ids or max(task_id, *sheet_ids) > BigIntegerField.MAX_BIGINT:  # no database can even be asked for it
        return []
    marks = ", ".join(["%s"] * len(sheet_ids))
    with connection.cursor() as cursor:
        cursor.execute(f"{_SQL} AND sheet.id IN ({marks})", [person.pk, task_id, *sheet_ids])  # marks alone
        return [_own_sheet(person, row) for row in cursor.fetchall()]


def _own_sheet(person: Person, row: Sequence[Any]) -> OwnSheet:
    values = iter(row)

    def take(names: Iterable[str]) -> dict[str, Any]:
        return {name: next(values) for name in names}

    def made(model: Any, fields: dict[str, Any]) -> Any:
        names = [field.attname for field in model._meta.concrete_fields if field.attname in fields]
        return model.from_db(connection.alias, names, [fields[name] for name in names])

    of_sheet = take(_SHEET)
    said = {name: json.loads(text) for name, text in take(_SAID).items()}
    task = made(Task, take(_TASK))
    content, references, shown_condition = (next(values) for _ in range(3))
    checked(person, task, SimpleNamespace(**take(CHECKS)))
    if task.state == Task.State.OPEN:
        require_blind(task)
    answer = Answer(content=json.loads(content), references=json.loads(references))
    return OwnSheet(made(SupportSheet, of_sheet | said), task, list(answer.sentences()), shown_condition)
