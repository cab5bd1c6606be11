"""The only way to answer sheets for a person.

An assessor's sheets are read through their own task and never by answer or run: not even the key of an answer, which
follows the order of imports, is read with them, and of no sheet but their own. A model's label is read in one place
alone, shown_label(), for the nugget that is on screen.
"""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Condition, Sentence
from assessor.labels.access import own_labelling
from assessor.labels.manual_setups import repeats
from assessor.labels.models import labels_in_sql, rows_in_sql
from assessor.labels.shown_labels import HAS_SEEN, label_in_sql
from assessor.runtime.sql import fetch_prepared
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
from assignment.label_kind import kind_of_nuggets
from assignment.models import AnswerSheet, kinds
from nuggets.editions import Snapshot
from nuggets.models import NuggetBank
from nuggets.queries import add_keys


class OwnSheet(NamedTuple):
    """An answer sheet of the person who asks, with its task and bank, and what is shown with it."""

    sheet: AnswerSheet
    task: Task
    bank: NuggetBank
    nuggets: Snapshot  # of the edition that the sheet is about
    sentences: list[Sentence]  # what they cite only where the protocol has it shown
    is_adjudicated: bool  # the person decides between two others
    shown_condition: int | None  # whose labels stand beside the choices; none: from scratch
    has_seen: bool  # whether it is recorded that the person has seen what is shown on the topic
    is_waiting: bool  # it can't be opened yet: the model whose labels are shown has not labelled all of it

    @property
    def asked(self) -> list[int]:
        """The ids of the nuggets that the person is asked about."""
        asked = self.sheet.asked if self.sheet.is_part else None
        return [nugget["id"] for nugget in self.nuggets] if asked is None else asked


# All that is read for an assessor's screen. It is written out because Django takes 3.5 ms to put such a query together,
# when all that happens between a label and the next answer may take 8.
_SHEET = ("id", "task_id", "bank_id", "judge_id", "put_off", "version", "edition", "to_do", "out_of_scope", "is_part")
# Not what counts instead of a label that a person could not give: it is not for their eyes.
_LABEL = ("id", "nugget_id", "value", "state", "reason", "flag", "raw", "marks", "shown_value")
_TASK = ("id", "campaign_id", "topic_id", "condition_id", "person_id", "kind", "state", "paused")
_CONDITION = ("id", "campaign_id", "name", "kind", "method", "shown_id", "sample", "of_passages")
_BANK = ("id", "topic_id", "condition_id", "task_id", "state", "edition")
# As openable() of shown_labels has it.
_IS_WAITING = """campaigns_condition.shown_id IS NOT NULL AND sheet.to_do > 0 AND NOT EXISTS (
    SELECT 1 FROM assignment_answersheet shown LEFT JOIN campaigns_import loaded ON loaded.id = shown.import_record_id
    WHERE shown.condition_id = campaigns_condition.shown_id AND shown.bank_id = sheet.bank_id
        AND shown.answer_id = sheet.answer_id AND shown.edition = sheet.edition
        AND shown.to_do = 0 AND shown.unjudgeable = 0 AND (loaded.id IS NULL OR loaded.state = 'done'))"""
_SQL = f"""
    SELECT {", ".join(f"sheet.{name}" for name in _SHEET)},
        {labels_in_sql("assignment_assignment", _LABEL)},
        {", ".join(f"work_task.{name}" for name in _TASK)},
        {", ".join(f"campaigns_condition.{name}" for name in _CONDITION)},
        {", ".join(f"bank.{name}" for name in _BANK)},
        (SELECT nuggets FROM nuggets_bankedition edition
            WHERE edition.bank_id = sheet.bank_id AND edition.edition = sheet.edition),
        {rows_in_sql("nuggets_nugget", ("uid", "id"), "one.bank_id = sheet.bank_id")},
        answer.content, answer."references", protocol.show_citations, {repeats()}, {HAS_SEEN}, {_IS_WAITING},
        {", ".join(CHECKS.values())}
    FROM assignment_answersheet sheet
    JOIN work_task ON work_task.id = sheet.task_id
    JOIN nuggets_nuggetbank bank ON bank.id = sheet.bank_id
    JOIN campaigns_answer answer ON answer.id = sheet.answer_id
    JOIN campaigns_condition ON campaigns_condition.id = sheet.condition_id
    JOIN campaigns_protocol protocol ON protocol.id = campaigns_condition.protocol_id
    WHERE work_task.person_id = %s AND work_task.id = %s AND NOT sheet.by_rule
"""  # noqa: S608  # names of our own tables
_SHOWN = label_in_sql(
    "assignment_answersheet", "assignment_assignment", ("answer_id", "bank_id", "edition"), ("nugget_id",)
)


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
    return own_labelling(person, task_id, kinds(), "answers")


def organized_assignment(person: Person, task_id: int) -> Task:
    """Return somebody else's task of assignment in a campaign that the person organizes. Raises Http404."""
    return organized_task(
        person, task_id, kinds(), "answers", "condition__nuggets", "condition__judge", "condition__shown__judge"
    )


def shown_label(own: OwnSheet, nugget: int) -> str | None:
    """Return the model's label of a nugget that is on the person's screen now; None where it gave none.

    Whoever calls this records that the person has seen it.
    """
    if own.shown_condition is None:
        return None
    found = fetch_prepared(_SHOWN, [own.sheet.pk, own.shown_condition, nugget])
    label: str | None = found[0][0] if found else None
    return label if label in kind_of_nuggets(own.task).labels else None


def _read(person: Person, task_id: int, sheet_ids: Sequence[int]) -> list[OwnSheet]:
    return [_own_sheet(person, row) for row in sheet_rows(_SQL, person, task_id, sheet_ids)]


def _own_sheet(person: Person, row: Row) -> OwnSheet:
    sheet: AnswerSheet = record(AnswerSheet, row.take(_SHEET))
    [labels] = row.some(1)
    sheet.take_json(_LABEL, labels)
    task, condition = record(Task, row.take(_TASK)), record(Condition, row.take(_CONDITION))
    task.condition, bank = condition, record(NuggetBank, row.take(_BANK))
    nuggets, keys, content, references, shows_citations, is_repeated, has_seen, is_waiting = row.some(8)
    checked(person, task, SimpleNamespace(**row.take(CHECKS)))
    require_open_blind(task)
    require_no_repetition(is_repeated)
    return OwnSheet(
        sheet,
        task,
        bank,
        add_keys(json.loads(nuggets), keys),
        _sentences(json.loads(content), json.loads(references) if shows_citations else None),
        condition.method == Condition.ADJUDICATED,
        condition.shown_id,
        bool(has_seen),
        bool(is_waiting),
    )


def _sentences(content: list[dict[str, Any]], references: list[str] | None) -> list[Sentence]:
    """Return the sentences of an answer; without references, what they cite is left out."""
    if references is None:
        return [Sentence(position, sentence["text"], ()) for position, sentence in enumerate(content)]
    return list(Answer(content=content, references=references).sentences())
