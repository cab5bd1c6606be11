"""Conditions in which people assign, and the answers that they are given."""

from collections.abc import Collection
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, judge_of
from assessor.campaigns.models import Answer, Condition, Topic
from assessor.campaigns.queries import texts_to_label
from assessor.labels.manual_setups import (
    ask_more,
    asked_again,
    create_first,
    drawn,
    require_right_person,
    without_sheet,
)
from assessor.labels.models import ManualSetup
from assessor.labels.shown_labels import is_shown, require_labels_to_show
from assessor.studies.actions import require_independent
from assessor.work import allocation
from assessor.work.actions import NotYet, PlanError
from assessor.work.allocation import hand_over, next_place, order
from assessor.work.judging_pool import Moved, judged_under, mark
from assessor.work.models import Task
from assignment.actions.judged_answers import add_sheets, sheet_row
from assignment.label_kind import ASSIGNMENT, Assignment, kind_of_nuggets
from assignment.models import AnswerSheet
from assignment.queries import asked_of, progress
from nuggets import condition_kind as nugget_methods
from nuggets.models import NuggetBank
from nuggets.queries import banks_by_topic, nuggets_of

_NAME = 120  # characters of a condition's name
_SHORT = {
    nugget_methods.EDITS: "Edits",
    nugget_methods.MANUAL: "Manual",
    nugget_methods.AUTO: "Auto",
    nugget_methods.INHERITED: "Inherited",
}


def usual_name(nuggets: Condition, by: str) -> str:
    """Return how papers call a condition, by how its nuggets came to be and who assigned: "Edits/Manual"."""
    made = _SHORT.get(nuggets.method, nuggets.name)
    return f"{made[: _NAME - len(by) - 1]}/{by}"


def create_manual_assign(
    *,
    nuggets: Condition,
    name: str,
    acting_user: Person | None,
    kind: Assignment = ASSIGNMENT,
    shown: Condition | None = None,
    of_passages: bool = False,
) -> Condition:
    """Make a condition in which people label the nuggets of another one in texts: from scratch, or shown labels.

    shown: the condition of a model on the same nuggets, whose labels stand beside the choices; these are then of what
    the model labelled. of_passages: passages, and not answers. Raises ConditionError.
    """
    if shown:
        require_labels_to_show(kind, nuggets.campaign, shown)
        if shown.nuggets_id != nuggets.pk:
            raise ConditionError(f"{shown} labels {shown.nuggets}, not {nuggets}: choose labels of the same nuggets.")
    condition = Condition(
        campaign=nuggets.campaign,
        name=name,
        kind=kind.name,
        method=kind.post_edited_method if shown else kind.blind_method,
        nuggets=nuggets,
        shown=shown,
        of_passages=shown.of_passages if shown else of_passages,
    )
    return create_first(condition, acting_user=acting_user)


def prepare_sheets(task: Task) -> None:
    """Make the answer sheets that a task's person will fill, and take over what another one left. Raises PlanError."""
    require_independent(task)
    setup = ManualSetup.objects.select_related("of").get(condition=task.condition)
    bank = banks_by_topic(_nuggets(task.condition), [task.topic]).get(task.topic_id)
    if bank:
        # Locked, or it could be finished again before its new sheets can be seen, and they would stay behind.
        locked = NuggetBank.objects.select_for_update(no_key=True, of=("self",)).get(pk=bank.pk)
        bank.state, bank.edition = locked.state, locked.edition
    if bank is None or bank.state != NuggetBank.State.FINISHED:
        raise NotYet(f"The nuggets of {task.topic.qid} under {task.condition.nuggets} are not finished.")
    _require_right_person(task, setup, bank)
    take_over(task, bank)
    _add_sheets(task, setup, bank)
    if not AnswerSheet.objects.filter(task=task).exists():
        raise NotYet(f"There is no answer to label on {task.topic.qid} under {task.condition}.")
    count(task)


def renew_sheets(task: Task) -> None:
    """Add what came since to a task that is given again, and open it if something is to be done. Raises PlanError."""
    prepare_sheets(task)
    task.refresh_from_db(fields=["state", "done", "total"])


def _nuggets(condition: Condition) -> Condition:
    assert condition.nuggets is not None, "an assignment condition has one of nuggets"
    return condition.nuggets


def _require_right_person(task: Task, setup: ManualSetup, bank: NuggetBank) -> None:
    """Raise PlanError where the labels should be somebody else's."""
    if task.condition.sample:
        return
    maker = bank.task.person if bank.task else None
    if setup.purpose == ManualSetup.Purpose.FIRST and maker and maker != task.person and not task.reason:
        qid = task.topic.qid
        raise PlanError(
            f"{maker} made the nuggets of {qid} and assigns them; to give them to {task.person} instead, say why."
        )
    require_right_person(task, setup, AnswerSheet.in_or_out.filter(bank=bank, by_rule=False))


class _Wanted(NamedTuple):
    answer: Answer
    asked: list[int]
    is_part: bool


def _wanted(task: Task, setup: ManualSetup, bank: NuggetBank) -> list[_Wanted]:
    """Return the answers that are to be labelled, with the nuggets that are asked of each."""
    snapshot = nuggets_of(bank)
    nuggets = [nugget["id"] for nugget in snapshot]
    if setup.of is None:
        answers = list(texts_to_label(task.condition, [task.topic]).order_by("run__tag", "pk"))
        asked_by_answer = asked_of(task.condition, {answer.pk: snapshot for answer in answers})
        is_part = bool(task.condition.sample)
        found = [_Wanted(answer, asked_by_answer[answer.pk], is_part) for answer in answers]
        return [one for one in found if one.asked or not is_part]
    firsts = AnswerSheet.objects.filter(condition=setup.of, bank=bank, by_rule=False).select_related("answer__run")
    wanted = []
    for sheet in AnswerSheet.with_items(firsts.order_by("answer")):
        if asked := asked_again(setup, sheet, nuggets if sheet.asked is None else sheet.asked):
            wanted.append(_Wanted(sheet.answer, asked, setup.only_unjudgeable or sheet.asked is not None))
    return drawn(setup, task.topic, wanted)


def _add_sheets(task: Task, setup: ManualSetup, bank: NuggetBank) -> None:
    """Write the sheets that are not there yet; in shuffled order, so that not even their keys tell a run."""
    known = AnswerSheet.in_or_out.filter(condition=task.condition, bank=bank)
    there = {sheet.answer_id: sheet for sheet in AnswerSheet.with_items(known)}
    judged = judged_under(task.condition, task.topic_id)
    wanted = [one for one in _wanted(task, setup, bank) if judged.holds(task.topic_id, one.answer.run_id)]
    new = without_sheet(setup, wanted, there)
    for one in wanted:
        if setup.only_unjudgeable and (sheet := there.get(one.answer.pk)):
            ask_more(sheet, sheet.asked + [nugget for nugget in one.asked if nugget not in sheet.asked])
    order(setup.seed, task).shuffle(new)
    empty_label = kind_of_nuggets(task).empty_label
    judge, first = judge_of(task.person), next_place(AnswerSheet.in_or_out.filter(task=task))
    add_sheets(
        sheet_row(
            condition=task.condition_id,
            bank=bank.pk,
            answer=one.answer.pk,
            judge=judge.pk,
            edition=bank.edition,
            nuggets=one.asked,
            is_part=one.is_part,
            by_rule=None if one.answer.words else empty_label,
            task=task.pk,
            place=place,
        )
        for place, one in enumerate(new, first)
    )


def take_over(task: Task, bank: NuggetBank) -> None:
    """Make a task's what somebody else was given before and has not done; what they began starts anew.

    Answers that they have done stay theirs, and count. Empty ones, of which nobody is asked, go along.
    """
    setup = ManualSetup.objects.get(condition=task.condition_id)
    left = AnswerSheet.objects.filter(Q(to_do__gt=0) | Q(by_rule=True), condition=task.condition_id, bank=bank)
    sheets = list(AnswerSheet.with_items(left.exclude(task=task).order_by("pk")))
    order(setup.seed, task).shuffle(sheets)
    hand_over(task, sheets, next_place(AnswerSheet.in_or_out.filter(task=task)), _said_on)


def _said_on(sheet: AnswerSheet) -> dict[str, object]:
    if sheet.by_rule:
        return {}
    return {**sheet.labels, **sheet.cannot, **sheet.flags, **sheet.marks, **sheet.stale, **sheet.shown}


def follow_scope(condition: Condition, topic: Topic) -> Moved:
    """Mark the sheets of a topic that are not judged any more, or are again.

    It is called in a transaction.
    """
    marked = mark(AnswerSheet, condition, topic)
    if any(marked):
        allocation.count_all(condition, topic, count)
    return marked


def count(task: Task) -> None:
    """Bring a task's counters up to date, and open it where something is to be done again."""
    allocation.count(task, progress, f"{task.kind} opened again")


def open_labelled(shown: Condition, topics: Collection[int]) -> None:
    """Bring the tasks up to date in which labels of a model stand beside the choices, on topics by key.

    Called once these labels are committed: whoever holds their sheets must wait for nobody else's.
    """
    if not is_shown(shown):
        return
    tasks = Task.objects.filter(condition__shown=shown, topic__in=topics).exclude(state=Task.State.WITHDRAWN)
    for task in tasks.select_related("topic").order_by("pk"):
        with transaction.atomic():
            count(task)
