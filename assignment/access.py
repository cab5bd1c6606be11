"""The only way to answer sheets for a person.

An assessor's sheets are read through their own task and never by answer or run: not even the key of an answer, which
follows the order of imports, is read with them, and of no sheet but their own.
"""

import json
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from django.core.exceptions import PermissionDenied
from django.db import connection
from django.db.models import BigIntegerField, Q
from django.http import Http404

from assessor.collection.models import Answer, Condition, Person, Sentence
from assessor.collection.roles import ORGANIZER, has_role
from assessor.work.access import CHECKS, NotAmongOwn, checked, own_task, require_blind
from assessor.work.models import Task
from assignment.models import AnswerSheet
from nuggets.editions import Snapshot
from nuggets.models import NuggetBank


class OwnSheet(NamedTuple):
    """An answer sheet of the person who asks, with its task and bank, and what is shown with it."""

    sheet: AnswerSheet
    task: Task
    bank: NuggetBank
    nuggets: Snapshot  # of the edition that the sheet is about
    sentences: list[Sentence]  # what they cite only where the protocol has it shown

    @property
    def asked(self) -> list[int]:
        """The ids of the nuggets that the person is asked about."""
        asked: list[int] | None = self.sheet.asked
        return [nugget["id"] for nugget in self.nuggets] if asked is None else asked


# All that is read for an assessor's screen. It is written out because Django takes 3.5 ms to put such a query together,
# when all that happens between a label and the next answer may take 8.
_SHEET = ("id", "task_id", "bank_id", "judge_id", "put_off", "version", "edition", "to_do")
_SAID = ("asked", "labels", "cannot", "stale", "invalid", "flags", "marks")
_TASK = ("id", "campaign_id", "topic_id", "condition_id", "person_id", "kind", "state")
_BANK = ("id", "topic_id", "condition_id", "task_id", "state", "edition")
_NAMES = (*_SHEET, *_SAID, *_TASK, *_BANK)
# Who labels answers again, to see whether they say the same, must not look at what they said the first time.
_REPEATS = """EXISTS (
        SELECT 1 FROM assignment_opinion opinion JOIN work_task again ON again.condition_id = opinion.condition_id
        WHERE opinion.of_id = work_task.condition_id AND opinion.purpose = 'repeat' AND again.state = 'open'
            AND again.person_id = work_task.person_id AND again.topic_id = work_task.topic_id)"""
_SQL = f"""
    SELECT {", ".join(f"sheet.{name}" for name in (*_SHEET, *_SAID))},
        {", ".join(f"work_task.{name}" for name in _TASK)},
        {", ".join(f"bank.{name}" for name in _BANK)},
        (SELECT nuggets FROM nuggets_bankedition edition
            WHERE edition.bank_id = sheet.bank_id AND edition.edition = sheet.edition),
        answer.content, answer."references", protocol.show_citations,
        {_REPEATS}, {", ".join(CHECKS.values())}
    FROM assignment_answersheet sheet
    JOIN work_task ON work_task.id = sheet.task_id
    JOIN nuggets_nuggetbank bank ON bank.id = sheet.bank_id
    JOIN collection_answer answer ON answer.id = sheet.answer_id
    JOIN collection_condition ON collection_condition.id = sheet.condition_id
    JOIN collection_protocol protocol ON protocol.id = collection_condition.protocol_id
    WHERE work_task.person_id = %s AND work_task.id = %s AND NOT sheet.by_rule
"""  # noqa: S608  # names of our own tables


def own_sheet(person: Person, task_id: int, sheet_id: int) -> OwnSheet:
    """Return an answer sheet of a person's own task, in one query.

    Raises Http404 where the task isn't theirs, NotAmongOwn where the sheet isn't the task's, and PermissionDenied where
    it is still to be done and they can't do it blind any more.
    """
    found = _read(person, task_id, [sheet_id])
    if not found:
        own_assignment(person, task_id)
        raise NotAmongOwn("This answer is not, or no longer, among those that you have to label here.")
    return found[0]


def own_sheets(task: Task, sheet_ids: Sequence[int]) -> list[OwnSheet]:
    """Return answer sheets of the task's person, of a task that own_assignment() returned, in this order."""
    found = {own.sheet.pk: own for own in _read(task.person, task.pk, sheet_ids)}
    return [found[pk] for pk in sheet_ids if pk in found]


def own_assignment(person: Person, task_id: int) -> Task:
    """Return a person's own task of assignment. Raises Http404 for anybody else's and for none.

    Raises PermissionDenied where it is still to be done and the person can't do it blind any more.
    """
    task = own_task(person, task_id)
    if task.kind != Condition.Kind.ASSIGNMENT:
        raise Http404("There are no such answers for you.")
    if task.state == Task.State.OPEN:
        require_blind(task)
    again = Task.objects.filter(person=person, topic=task.topic_id, state=Task.State.OPEN)
    _require_no_repetition(
        again.filter(condition__opinion__of=task.condition_id, condition__opinion__purpose="repeat").exists()
    )
    return task


def _require_no_repetition(is_repeated: bool) -> None:
    if is_repeated:
        raise PermissionDenied(
            "You are labelling these answers again, without a look at what you said the first time: "
            "it can be opened once you have signed the repetition off."
        )


def organized_assignment(person: Person, task_id: int) -> Task:
    """Return somebody else's task of assignment in a campaign that the person organizes. Raises Http404."""
    organized = Q(campaign__organizers__person=person, campaign__organizers__until__isnull=True)
    tasks = Task.objects.select_related("campaign", "topic", "person", "condition__nuggets", "condition__judge")
    tasks = tasks.filter(organized, pk=task_id, kind=Condition.Kind.ASSIGNMENT).exclude(person=person)
    task = tasks.first() if has_role(person, ORGANIZER) else None
    if task is None:
        raise Http404("There are no such answers in a campaign of yours.")
    return task


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
    said = {name: None if text is None else json.loads(text) for name, text in take(_SAID).items()}
    task, bank = made(Task, take(_TASK)), made(NuggetBank, take(_BANK))
    nuggets, content, references, shows_citations, is_repeated = (next(values) for _ in range(5))
    checked(person, task, SimpleNamespace(**take(CHECKS)))
    if task.state == Task.State.OPEN:
        require_blind(task)
    _require_no_repetition(is_repeated)
    return OwnSheet(
        made(AnswerSheet, of_sheet | said),
        task,
        bank,
        json.loads(nuggets),
        _sentences(json.loads(content), json.loads(references) if shows_citations else None),
    )


def _sentences(content: list[dict[str, Any]], references: list[str] | None) -> list[Sentence]:
    """Return the sentences of an answer; without references, what they cite is left out."""
    if references is None:
        return [Sentence(position, sentence["text"], ()) for position, sentence in enumerate(content)]
    return list(Answer(content=content, references=references).sentences())
