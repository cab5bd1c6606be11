"""The only way to ARGUE sheets for a person.

An assessor's sheets are read through their own task and never by answer or run: not even the key of an answer, which
follows the order of imports, is read with them, and of no sheet but their own. No model's judgment is read here.
"""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import NamedTuple

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Condition, Protocol, Sentence
from assessor.labels.access import own_labelling
from assessor.labels.manual_setups import repeats
from assessor.labels.models import labels_in_sql
from assessor.work.access import (
    CHECKS,
    NotAmongOwn,
    Row,
    checked,
    organized_task,
    record,
    require_no_repetition,
    require_open_blind,
    sheet_rows,
)
from assessor.work.models import Task
from assignment.argue.items import Bank, bank_of
from assignment.argue.label_kind import ARGUE
from assignment.argue.models import ArgueSheet
from nuggets.models import NuggetBank


class OwnSheet(NamedTuple):
    """An ARGUE sheet of the person who asks, with its task and bank, and the report that it is about."""

    sheet: ArgueSheet
    task: Task
    bank: NuggetBank
    asked: Bank  # of the edition that the sheet is about
    run: int  # the key of the report's
    sentences: list[Sentence]  # those that are judged
    cut: list[Sentence]  # those beyond the limit


# All that is read for an assessor's screen, written out as for the other screens.
_SHEET = (
    *("id", "task_id", "bank_id", "judge_id", "put_off", "version", "edition", "cut", "is_part", "to_do"),
    "out_of_scope",
)
# Not what counts instead of a label that a person could not give: it is not for their eyes.
_LABEL = ("id", "key", "docid", "step", "value", "state", "reason", "flag", "raw")
_TASK = ("id", "campaign_id", "topic_id", "condition_id", "person_id", "kind", "state", "paused")
_CONDITION = ("id", "campaign_id", "name", "kind", "method", "shown_id", "sample")
_PROTOCOL = ("argue_gate", "argue_negatives")
_BANK = ("id", "topic_id", "condition_id", "task_id", "state", "edition")
_SQL = f"""
    SELECT {", ".join(f"sheet.{name}" for name in _SHEET)},
        {labels_in_sql("argue_arguejudgment", _LABEL)},
        {", ".join(f"work_task.{name}" for name in _TASK)},
        {", ".join(f"campaigns_condition.{name}" for name in _CONDITION)},
        {", ".join(f"protocol.{name}" for name in _PROTOCOL)},
        {", ".join(f"bank.{name}" for name in _BANK)},
        (SELECT nuggets FROM nuggets_bankedition edition
            WHERE edition.bank_id = sheet.bank_id AND edition.edition = sheet.edition),
        answer.run_id, answer.content, answer."references", {repeats()},
        {", ".join(CHECKS.values())}
    FROM argue_arguesheet sheet
    JOIN work_task ON work_task.id = sheet.task_id
    JOIN nuggets_nuggetbank bank ON bank.id = sheet.bank_id
    JOIN campaigns_answer answer ON answer.id = sheet.answer_id
    JOIN campaigns_condition ON campaigns_condition.id = sheet.condition_id
    JOIN campaigns_protocol protocol ON protocol.id = campaigns_condition.protocol_id
    WHERE work_task.person_id = %s AND work_task.id = %s
"""  # noqa: S608  # names of our own tables


def own_sheet(person: Person, task_id: int, sheet_id: int) -> OwnSheet:
    """Return an ARGUE sheet of a person's own task, in one query.

    Raises Http404 where the task isn't theirs, NotAmongOwn where the sheet isn't the task's, and PermissionDenied where
    it is still to be done and they can't do it blind any more.
    """
    found = _read(person, task_id, [sheet_id])
    if not found:
        own_judging(person, task_id)
        raise NotAmongOwn("This report is not, or no longer, among those that you have to judge here.")
    return found[0]


def own_sheets(task: Task, sheet_ids: Sequence[int]) -> list[OwnSheet]:
    """Return ARGUE sheets of the task's person, of a task that own_judging() returned, in this order."""
    found = {own.sheet.pk: own for own in _read(task.person, task.pk, sheet_ids)}
    return [found[pk] for pk in sheet_ids if pk in found]


def own_judging(person: Person, task_id: int) -> Task:
    """Return a person's own task of judging reports. Raises Http404 for anybody else's and for none.

    Raises PermissionDenied where it is still to be done and the person can't do it blind any more.
    """
    return own_labelling(person, task_id, [ARGUE.name], "reports")


def organized_judging(person: Person, task_id: int) -> Task:
    """Return somebody else's task of judging reports in a campaign that the person organizes. Raises Http404."""
    return organized_task(person, task_id, [ARGUE.name], "reports", "condition__nuggets", "condition__judge")


def _read(person: Person, task_id: int, sheet_ids: Sequence[int]) -> list[OwnSheet]:
    return [_own_sheet(person, row) for row in sheet_rows(_SQL, person, task_id, sheet_ids)]


def _own_sheet(person: Person, row: Row) -> OwnSheet:
    sheet: ArgueSheet = record(ArgueSheet, row.take(_SHEET))
    [labels] = row.some(1)
    sheet.take_json(_LABEL, labels)
    task = record(Task, row.take(_TASK))
    task.condition = record(Condition, row.take(_CONDITION))
    protocol, bank = record(Protocol, row.take(_PROTOCOL)), record(NuggetBank, row.take(_BANK))
    nuggets, run, content, references, is_repeated = row.some(5)
    checked(person, task, SimpleNamespace(**row.take(CHECKS)))
    require_open_blind(task)
    require_no_repetition(is_repeated)
    sentences = list(Answer(content=json.loads(content), references=json.loads(references)).sentences())
    judged = len(sentences) - sheet.cut
    asked = bank_of(json.loads(nuggets), protocol)
    return OwnSheet(sheet, task, bank, asked, run, sentences[:judged], sentences[judged:])
