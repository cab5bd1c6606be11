"""Conditions under which people judge reports, and the reports that they are given."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Q

from assessor.accounts.models import Person
from assessor.campaigns.actions import judge_of
from assessor.campaigns.models import Answer, Condition, Sentence, Topic
from assessor.campaigns.passages import lacking_passages
from assessor.labels.manual_setups import asked_again, create_first, drawn, require_right_person, without_sheet
from assessor.labels.models import ManualSetup
from assessor.work import allocation
from assessor.work.actions import NotYet
from assessor.work.allocation import hand_over, next_place, order
from assessor.work.judging_pool import Moved, judged_under, mark
from assessor.work.models import Task
from assignment.argue.actions.judged_reports import (
    add_sheets,
    asked_of,
    keys_of,
    lock_sheets,
    note_texts,
    sheet_row,
)
from assignment.argue.items import Bank, Item, bank_of, item_of_key, judged_sentences
from assignment.argue.label_kind import ARGUE, MANUAL
from assignment.argue.models import ArgueSheet
from assignment.argue.queries import ASKS, progress, reports_of, reports_without_sheet
from assignment.argue.vocabulary import ATTESTS
from nuggets.models import NuggetBank
from nuggets.queries import lock_finished_banks, present_editions


def create_manual_argue(*, questions: Condition, name: str, acting_user: Person | None) -> Condition:
    """Make a condition in which people judge reports against the questions of another one. Raises ConditionError."""
    condition = Condition(campaign=questions.campaign, name=name, kind=ARGUE.name, method=MANUAL, nuggets=questions)
    return create_first(condition, acting_user=acting_user)


def prepare_sheets(task: Task) -> None:
    """Make the sheets that a task's person will fill, and take over what another one left. Raises PlanError."""
    setup = ManualSetup.objects.select_related("of").get(condition=task.condition)
    questions = task.condition.nuggets
    assert questions is not None, "reports are judged against questions"
    bank = lock_finished_banks(questions, [task.topic]).get(task.topic_id)
    if bank is None:
        raise NotYet(f"The questions of {task.topic.qid} under {questions} are not finished.")
    require_right_person(task, setup, ArgueSheet.in_or_out.filter(ASKS, bank=bank))
    note_texts(lock_sheets(ArgueSheet.in_or_out.filter(condition=task.condition, bank=bank)), task.campaign)
    take_over(task, bank)
    _add_sheets(task, setup, bank)
    if not ArgueSheet.objects.filter(task=task).exists():
        raise NotYet(f"There is no report left to judge on {task.topic.qid} under {task.condition}.")
    count(task)


def renew_sheets(task: Task) -> None:
    """Add what came since to a task that is given again, and open it if something is to be done. Raises PlanError."""
    prepare_sheets(task)
    task.refresh_from_db(fields=["state", "done", "total"])


class _Wanted(NamedTuple):
    """A report that is to be judged, with what is asked of it."""

    answer: Answer
    items: list[Item]


def _first(task: Task, bank: NuggetBank, asked: Bank) -> list[_Wanted]:
    """Return the reports that have no sheet yet."""
    answers = reports_of(reports_without_sheet(task.condition, [bank])).order_by("run__tag", "pk")
    return [_Wanted(answer, asked.items(_judged(task, answer), {})) for answer in answers]


def _again(task: Task, setup: ManualSetup, bank: NuggetBank, asked: Bank) -> list[_Wanted]:
    """Return the reports that have no sheet yet among those that are judged again, of which the seed draws a share.

    Where only that is asked which the first person couldn't judge, sheets that are there are asked what came since.
    """
    there = {
        sheet.answer_id: sheet
        for sheet in lock_sheets(ArgueSheet.in_or_out.filter(condition=task.condition, bank=bank))
    }
    firsts = ArgueSheet.objects.filter(condition=setup.of, bank=bank, answer__apart=False)
    wanted = []
    for sheet in ArgueSheet.with_items(firsts.select_related("answer__run", "answer__topic").order_by("answer")):
        items = asked.items(_judged(task, sheet.answer), {})
        if setup.only_unjudgeable:
            items = [item_of_key(key) for key in asked_again(setup, sheet, sheet.asked)]
        wanted.append(_Wanted(sheet.answer, items))
    judged = judged_under(task.condition, task.topic_id)
    in_scope = [one for one in wanted if judged.holds(task.topic_id, one.answer.run_id)]
    some = drawn(setup, task.topic, [one for one in in_scope if one.items])
    new = without_sheet(setup, some, there)
    if setup.only_unjudgeable:
        for one in some:
            _ask_more(there.get(one.answer.pk), one.items)
        note_texts([there[one.answer.pk] for one in some if one.answer.pk in there], task.campaign)
    elif setup.share == 100:
        # Empty reports go along, or they would be missing in the scores instead of being 0.
        new += [one for one in in_scope if not one.items and one.answer.pk not in there]
    return new


def _ask_more(sheet: ArgueSheet | None, items: Sequence[Item]) -> None:
    """Ask a sheet, if there is one, also about what the first person has said since that they can't judge."""
    if sheet and (more := [item.key for item in items if item.key not in sheet.asked]):
        sheet.revise("asked more", {}, judge_id=None, asked=[*sheet.asked, *more])


def _judged(task: Task, answer: Answer) -> list[Sentence]:
    return judged_sentences(list(answer.sentences()), task.condition.protocol, answer.topic)


def _add_sheets(task: Task, setup: ManualSetup, bank: NuggetBank) -> None:
    """Write the sheets that are not there yet; in shuffled order, so that not even their keys tell a run."""
    nuggets = present_editions([bank])[bank.pk].nuggets
    asked = bank_of(nuggets, task.condition.protocol)
    new = _again(task, setup, bank, asked) if setup.of else _first(task, bank, asked)
    order(setup.seed, task).shuffle(new)
    cited = ((one.answer.run_id, item.docid) for one in new for item in one.items if item.docid)
    lacking = lacking_passages(task.campaign, cited)
    judge, first = judge_of(task.person), next_place(ArgueSheet.in_or_out.filter(task=task))
    add_sheets(
        sheet_row(
            condition=task.condition_id,
            bank=bank.pk,
            answer=one.answer.pk,
            judge=judge.pk,
            edition=bank.edition,
            cut=len(one.answer.content) - len(_judged(task, one.answer)),
            items=one.items,
            nuggets=keys_of(nuggets),
            task=task.pk,
            place=place,
            unresolved=[
                item.key for item in one.items if item.step == ATTESTS and (one.answer.run_id, item.docid) in lacking
            ],
            is_part=setup.only_unjudgeable,
        )
        for place, one in enumerate(new, first)
    )


def take_over(task: Task, bank: NuggetBank) -> None:
    """Make a task's what somebody else was given before and has not done; what they began starts anew.

    Reports that they have done stay theirs, and count. Those of which nothing can be said go along.
    """
    setup = ManualSetup.objects.get(condition=task.condition_id)
    left = ArgueSheet.objects.filter(Q(to_do__gt=0) | ~ASKS, condition=task.condition_id, bank=bank).exclude(task=task)
    sheets = lock_sheets(left)
    order(setup.seed, task).shuffle(sheets)
    edition = present_editions([bank])[bank.pk].nuggets

    def asked(sheet: ArgueSheet) -> list[str]:
        return asked_of(sheet, bank_of(edition, sheet.condition.protocol), {})[0]

    first = next_place(ArgueSheet.in_or_out.filter(task=task))
    hand_over(task, sheets, first, _said_on, asked)


def _said_on(sheet: ArgueSheet) -> dict[str, object]:
    return {**sheet.labels, **sheet.cannot, **sheet.flags, **sheet.stale}


def follow_scope(condition: Condition, topic: Topic) -> Moved:
    """Mark the sheets of a topic that are not judged any more, or are again.

    It is called in a transaction.
    """
    marked = mark(ArgueSheet, condition, topic)
    if any(marked):
        allocation.count_all(condition, topic, count)
    return marked


def count(task: Task) -> None:
    """Bring a task's counters up to date, and open it where something is to be done again."""
    allocation.count(task, progress, f"{task.kind} opened again")
