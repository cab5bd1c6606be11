"""Conditions in which people assign, and the answers that they are given."""

import random
from hashlib import sha256
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max, Q

from assessor.collection import history
from assessor.collection.actions import ConditionError, create_condition, judge_of
from assessor.collection.models import Answer, Condition, Person
from assessor.collection.queries import answers_to
from assessor.work.actions import PlanError
from assessor.work.models import Task
from assessor.work.sheets import revise
from assignment.actions.sheets import add_sheets, sheet_row
from assignment.models import AnswerSheet, Opinion, Revision
from assignment.queries import finished_banks, nuggets_of, progress
from nuggets.models import NuggetBank

_SEEDS = 2**31
_NAME = 120  # characters of a condition's name
_SHORT = {
    Condition.Method.AUTO_NUGGETS_EDITS: "Edits",
    Condition.Method.MANUAL_NUGGETS: "Manual",
    Condition.Method.AUTO_NUGGETS: "Auto",
}


def usual_name(nuggets: Condition, by: str) -> str:
    """Return how papers call a condition, by how its nuggets came to be and who assigned: "Edits/Manual"."""
    made = _SHORT.get(Condition.Method(nuggets.method), nuggets.name)
    return f"{made[: _NAME - len(by) - 1]}/{by}"


@transaction.atomic
def create_manual_assign(*, nuggets: Condition, name: str, acting_user: Person | None) -> Condition:
    """Make a condition in which people assign the nuggets of another one. Raises ConditionError."""
    return _create(nuggets, name, Opinion(purpose=Opinion.Purpose.FIRST), 0, acting_user)


@transaction.atomic
def create_opinion(
    *,
    of: Condition,
    name: str,
    purpose: str,
    share: int = 100,
    only_cannot: bool = False,
    acting_user: Person | None,
) -> Condition:
    """Make a condition in which answers of another one are labelled again: by somebody else, or by the same person.

    purpose: of Opinion.Purpose; share: percent of each topic's answers, 1 to 100. Raises ConditionError.
    """
    if of.method != Condition.Method.MANUAL_ASSIGN or of.nuggets is None:
        raise ConditionError(f"{of} was not assigned by people here, so nobody can be asked to do it again.")
    if not 1 <= share <= 100:
        raise ConditionError("The share of the answers is 1 to 100 percent.")
    Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=of.nuggets.pk)  # one replicate after another
    same = Condition.everything.filter(nuggets=of.nuggets, method=of.method)
    replicate = (same.aggregate(last=Max("replicate"))["last"] or 0) + 1
    opinion = Opinion(purpose=purpose, of=of, share=share, only_cannot=only_cannot)
    return _create(of.nuggets, name, opinion, replicate, acting_user)


def _create(nuggets: Condition, name: str, opinion: Opinion, replicate: int, acting_user: Person | None) -> Condition:
    condition = Condition(
        campaign=nuggets.campaign,
        name=name,
        kind=Condition.Kind.ASSIGNMENT,
        method=Condition.Method.MANUAL_ASSIGN,
        nuggets=nuggets,
        replicate=replicate,
    )
    opinion.condition = create_condition(condition, acting_user=acting_user)
    opinion.seed = random.SystemRandom().randrange(_SEEDS)
    opinion.save()
    return condition


def prepare_sheets(task: Task) -> None:
    """Make the answer sheets that a task's person will fill, and take over what another one left. Raises PlanError."""
    opinion = Opinion.objects.select_related("of").get(condition=task.condition)
    bank = finished_banks(_nuggets(task.condition), [task.topic]).get(task.topic_id)
    if bank:
        # Locked, or it could be finished again before its new sheets can be seen, and they would stay behind.
        locked = NuggetBank.objects.select_for_update(no_key=True, of=("self",)).get(pk=bank.pk)
        bank.state, bank.edition = locked.state, locked.edition
    if bank is None or bank.state != NuggetBank.State.FINISHED:
        raise PlanError(f"The nuggets of {task.topic.qid} under {task.condition.nuggets} are not finished.")
    _require_right_person(task, opinion, bank)
    take_over(task, bank)
    _add_sheets(task, opinion, bank)
    if not AnswerSheet.objects.filter(task=task).exists():
        raise PlanError(f"There is no answer to label on {task.topic.qid} under {task.condition}.")
    count(task)


def renew_sheets(task: Task) -> None:
    """Add what came since to a task that is given again, and open it if something is to be done. Raises PlanError."""
    prepare_sheets(task)
    task.refresh_from_db(fields=["state", "done", "total"])


def _nuggets(condition: Condition) -> Condition:
    assert condition.nuggets is not None, "an assignment condition has one of nuggets"
    return condition.nuggets


def _require_right_person(task: Task, opinion: Opinion, bank: NuggetBank) -> None:
    """Raise PlanError where the labels should be somebody else's."""
    person, qid = task.person, task.topic.qid
    if opinion.purpose == Opinion.Purpose.FIRST:
        maker = bank.task.person if bank.task else None
        if maker and maker != person and not task.reason:
            raise PlanError(
                f"{maker} made the nuggets of {qid} and assigns them; to give them to {person} instead, say why."
            )
        if _has_labelled(person, bank, Q(condition__opinion__of=task.condition)):
            raise PlanError(f"{person} labels {qid} beside {task.condition}: both would be the same person's.")
        return
    firsts = AnswerSheet.objects.filter(condition=opinion.of, bank=bank, by_rule=False).exclude(task=None)
    before = set(firsts.values_list("task__person", flat=True))
    if not before:
        raise PlanError(f"Nobody was given {qid} under {opinion.of} yet: there is nothing to repeat.")
    if opinion.purpose == Opinion.Purpose.REPEAT:
        if before != {person.pk}:
            raise PlanError(f"{person} did not label all of {qid} under {opinion.of}: only who did can repeat it.")
        if firsts.exclude(task__state=Task.State.FINISHED).exists():
            raise PlanError(f"{person} has not signed {qid} off under {opinion.of} yet.")
    elif _has_labelled(person, bank, Q(condition=opinion.of) | Q(condition__opinion__of=opinion.of), but=task):
        raise PlanError(f"{person} labelled {qid} before: a second opinion is somebody else's.")


def _has_labelled(person: Person, bank: NuggetBank, under: Q, but: Task | None = None) -> bool:
    """Say whether a person has, or had before they were taken over, answer sheets of a bank under some conditions."""
    sheets = AnswerSheet.objects.filter(under, bank=bank, by_rule=False)
    if but:
        sheets = sheets.exclude(condition=but.condition)
    theirs = Revision.objects.filter(sheet__in=sheets, task__person=person)
    return sheets.filter(task__person=person).exists() or theirs.exists()


class _Wanted(NamedTuple):
    answer: Answer
    asked: list[int]
    is_part: bool


def _wanted(task: Task, opinion: Opinion, bank: NuggetBank) -> list[_Wanted]:
    """Return the answers that are to be labelled, with the nuggets that are asked of each."""
    nuggets = [nugget["id"] for nugget in nuggets_of(bank)]
    if opinion.of is None:
        return [_Wanted(answer, nuggets, False) for answer in answers_to([task.topic]).order_by("run__tag")]
    firsts = AnswerSheet.objects.filter(condition=opinion.of, bank=bank, by_rule=False).select_related("answer__run")
    wanted = []
    for sheet in firsts.order_by("answer__run__tag"):
        asked = nuggets if sheet.asked is None else sheet.asked
        if opinion.only_cannot:
            asked = [nugget for nugget in asked if str(nugget) in sheet.cannot]
        if asked:
            wanted.append(_Wanted(sheet.answer, asked, opinion.only_cannot or sheet.asked is not None))
    # The same answers whoever labels them: drawn by the seed, the topic and the run alone.
    wanted.sort(key=lambda one: sha256(f"{opinion.seed} {task.topic.qid} {one.answer.run.tag}".encode()).digest())
    return wanted[: -(-len(wanted) * opinion.share // 100)]


def _order(opinion: Opinion, task: Task) -> random.Random:
    return random.Random(f"{opinion.seed} {task.topic.qid} {task.person_id}")  # noqa: S311  # an order, no secret


def _add_sheets(task: Task, opinion: Opinion, bank: NuggetBank) -> None:
    """Write the sheets that are not there yet; in shuffled order, so that not even their keys tell a run."""
    there = {sheet.answer_id: sheet for sheet in AnswerSheet.objects.filter(condition=task.condition, bank=bank)}
    wanted = _wanted(task, opinion, bank)
    new = [one for one in wanted if one.answer.pk not in there]
    if opinion.share < 100:
        new = new[: max(0, len(wanted) - len(there))]  # an answer that came since changes what is drawn
    for one in wanted:
        if opinion.only_cannot and one.answer.pk in there:
            _ask_more(there[one.answer.pk], one.asked)
    _order(opinion, task).shuffle(new)
    judge, first = judge_of(task.person), _next_place(task)
    add_sheets(
        sheet_row(
            condition=task.condition_id,
            bank=bank.pk,
            answer=one.answer.pk,
            judge=judge.pk,
            edition=bank.edition,
            nuggets=one.asked,
            is_part=one.is_part,
            is_empty=one.answer.words == 0,
            task=task.pk,
            place=place,
        )
        for place, one in enumerate(new, first)
    )


def _ask_more(sheet: AnswerSheet, nuggets: list[int]) -> None:
    """Ask a sheet also about nuggets that the first person has said since that they can't judge."""
    more = [nugget for nugget in nuggets if nugget not in sheet.asked]
    if more:
        columns = {"asked": sheet.asked + more, "to_do": sheet.to_do + len(more)}
        revise(sheet, "asked more", {}, judge_id=None, columns=columns)


def _next_place(task: Task) -> int:
    last: int | None = AnswerSheet.objects.filter(task=task).aggregate(last=Max("place"))["last"]
    return 0 if last is None else last + 1


def take_over(task: Task, bank: NuggetBank) -> None:
    """Make a task's what somebody else was given before and has not done; what they began starts anew.

    Answers that they have done stay theirs, and count. Empty ones, of which nobody is asked, go along.
    """
    opinion, judge = Opinion.objects.get(condition=task.condition_id), judge_of(task.person)
    left = AnswerSheet.objects.filter(Q(to_do__gt=0) | Q(by_rule=True), condition=task.condition_id, bank=bank)
    sheets = list(left.exclude(task=task).order_by("pk"))
    _order(opinion, task).shuffle(sheets)
    for place, sheet in enumerate(sheets, _next_place(task)):
        said = [] if sheet.by_rule else {**sheet.labels, **sheet.cannot, **sheet.flags, **sheet.marks, **sheet.stale}
        nothing: dict[str, None] = dict.fromkeys(AnswerSheet.SAID)
        revise(
            sheet,
            "handed over",
            {int(nugget): nothing for nugget in said},
            judge_id=judge.pk,
            task_id=task.pk,
            columns={"judge": judge, "task": task, "place": place, "put_off": 0},
        )


def count(task: Task) -> None:
    """Bring a task's counters up to date, and open it where something is to be done again."""
    # Locked before anything is counted: its person may save a label or sign off at the same moment.
    locked = Task.objects.select_for_update(no_key=True, of=("self",)).select_related("campaign").get(pk=task.pk)
    locked.done, locked.total = progress(locked)
    if locked.state == Task.State.FINISHED and locked.done < locked.total:
        locked.state = Task.State.OPEN
        history.record("assignment opened again", locked, campaign=locked.campaign, person=None)
    locked.save(update_fields=["done", "total", "state"])
