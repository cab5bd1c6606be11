"""The only way to support sheets for a person.

An assessor's sheets are read through their own task and never by answer or run: not even the key of an answer, which
follows the order of imports, is read with them, and of no sheet but their own. A model's label is read in one place
alone, shown_label(), for the citation that is on screen.
"""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import NamedTuple

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Condition, Sentence
from assessor.labels.access import own_labelling
from assessor.labels.manual_setups import repeats
from assessor.labels.models import labels_in_sql
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
from support.citations import LABELS, places
from support.label_kind import SUPPORT
from support.models import SupportSheet


class OwnSheet(NamedTuple):
    """A support sheet of the person who asks, with its task and the answer that it is about."""

    sheet: SupportSheet
    task: Task
    run: int  # the key of the answer's
    sentences: list[Sentence]
    shown_condition: int | None  # whose labels stand beside the choices; none: from scratch
    is_adjudicated: bool  # the person decides between two others
    judges_equal_once: bool  # whether what is said of one citation is said of its equals
    has_seen: bool  # whether it is recorded that the person has seen what is shown on the topic

    @property
    def open(self) -> list[str]:
        """The citations that the person can judge, in the answer's order: of equal ones that which is asked."""
        settled = self.sheet.settled_elsewhere
        return [key for key in self.sheet.open if key not in settled]

    def docid(self, key: str) -> str:
        """Return what one of the citations points to."""
        docid: str = self.sheet.labels_by_item[key].docid
        return docid


# All that is read for an assessor's screen. It is written out because Django takes 3.5 ms to put such a query together,
# when all that happens between a label and the next citation may take 8.
_SHEET = (
    *("id", "task_id", "judge_id", "put_off", "version", "to_do", "out_of_scope", "import_record_id"),
    *("total", "without_text", "waiting_for_label"),
)
# Not what counts instead of a label that a person could not give: it is not for their eyes.
_LABEL = (
    *("id", "sentence", "citation", "docid", "value", "state", "reason", "flag", "raw", "shown_value"),
    "equal_to_id",
)
_TASK = ("id", "campaign_id", "topic_id", "condition_id", "person_id", "kind", "state", "paused")
_CONDITION = ("id", "campaign_id", "name", "kind", "method", "shown_id", "sample")
_SQL = f"""
    SELECT {", ".join(f"sheet.{name}" for name in _SHEET)},
        {labels_in_sql("support_supportjudgment", _LABEL)},
        {", ".join(f"work_task.{name}" for name in _TASK)},
        {", ".join(f"campaigns_condition.{name}" for name in _CONDITION)},
        answer.run_id, answer.content, answer."references", {repeats()}, protocol.equal_pairs_once, {HAS_SEEN},
        {", ".join(CHECKS.values())}
    FROM support_supportsheet sheet
    JOIN work_task ON work_task.id = sheet.task_id
    JOIN campaigns_answer answer ON answer.id = sheet.answer_id
    JOIN campaigns_condition ON campaigns_condition.id = sheet.condition_id
    JOIN campaigns_protocol protocol ON protocol.id = campaigns_condition.protocol_id
    WHERE work_task.person_id = %s AND work_task.id = %s
"""  # noqa: S608  # names of our own tables
# For the same reason: what a condition that is made here or loaded says of a sheet's answer.
_SHOWN = label_in_sql("support_supportsheet", "support_supportjudgment", ("answer_id",), ("sentence", "docid"))


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
    return own_labelling(person, task_id, [SUPPORT.name], "citations")


def organized_judging(person: Person, task_id: int) -> Task:
    """Return somebody else's task of support in a campaign that the person organizes. Raises Http404."""
    return organized_task(person, task_id, [SUPPORT.name], "citations", "condition__judge", "condition__shown__judge")


def shown_label(own: OwnSheet, key: str) -> str | None:
    """Return the model's label of a citation that is on the person's screen now; None where it gave none.

    Whoever calls this records that the person has seen it.
    """
    if own.shown_condition is None:
        return None
    found = fetch_prepared(_SHOWN, [own.sheet.pk, own.shown_condition, places(key)[0], own.docid(key)])
    label: str | None = found[0][0] if found else None
    return label if label in LABELS else None


def _read(person: Person, task_id: int, sheet_ids: Sequence[int]) -> list[OwnSheet]:
    return [_own_sheet(person, row) for row in sheet_rows(_SQL, person, task_id, sheet_ids)]


def _own_sheet(person: Person, row: Row) -> OwnSheet:
    sheet: SupportSheet = record(SupportSheet, row.take(_SHEET))
    [labels] = row.some(1)
    sheet.take_json(_LABEL, labels)
    task = record(Task, row.take(_TASK))
    task.condition = record(Condition, row.take(_CONDITION))
    run, content, references, is_repeated, judges_equal_once, has_seen = row.some(6)
    checked(person, task, SimpleNamespace(**row.take(CHECKS)))
    require_open_blind(task)
    require_no_repetition(is_repeated)
    answer = Answer(content=json.loads(content), references=json.loads(references))
    return OwnSheet(
        sheet,
        task,
        run,
        list(answer.sentences()),
        task.condition.shown_id,
        task.condition.method == Condition.ADJUDICATED,
        bool(judges_equal_once),
        bool(has_seen),
    )
