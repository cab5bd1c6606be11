"""Second opinions and repetitions: what a person labelled is labelled again, by somebody else or by the same person.

Each is a condition of its own, whose ManualSetup says of what, so that its labels never mix with the first ones. Whose
they may be and which answers they are about is decided here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Protocol, TypeVar

from django.db import models, transaction
from django.db.models import Max, QuerySet

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, create_condition
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Answer, Condition, Topic
from assessor.labels.models import JudgedAnswer, ManualSetup
from assessor.work.access import require_no_repetition
from assessor.work.actions import NotYet, PlanError
from assessor.work.allocation import new_seed
from assessor.work.models import Task

Item = TypeVar("Item")


FIRST, SECOND, REPEAT = ManualSetup.Purpose.FIRST, ManualSetup.Purpose.SECOND, ManualSetup.Purpose.REPEAT


def conditions(**which: Any) -> QuerySet[Any]:
    """Return the keys of the conditions with such a setup, to be looked for among."""
    return ManualSetup.objects.filter(**which).values("condition")


def not_for_people(condition: Condition) -> str | None:
    """Say why nobody can be given anything under a condition that was not made for people, or None."""
    if ManualSetup.objects.filter(condition=condition).exists():
        return None
    return f"Nobody can be given {condition.name}: its labels are not given by people here."


def is_part(condition: Condition) -> bool:
    """Say whether but a part is labelled again under a condition, by which nothing can be scored as a whole."""
    partly = models.Q(share__lt=100) | models.Q(only_unjudgeable=True)
    return ManualSetup.objects.filter(partly, condition=condition).exclude(of=None).exists()


def same_work(*of: Condition) -> QuerySet[Condition]:
    """Return the conditions under which the same is labelled as under some: theirs, the first ones, all on these."""
    keys = {condition.pk for condition in of}
    firsts = ManualSetup.objects.filter(condition__in=keys).exclude(of=None)
    keys |= set(firsts.values_list("of", flat=True))
    on_them = conditions(of__in=keys)
    return Condition.objects.filter(models.Q(pk__in=keys) | models.Q(pk__in=on_them)).order_by("pk")


@transaction.atomic
def create_first(condition: Condition, *, from_queue: bool = False, acting_user: Person | None) -> Condition:
    """Save a new condition under which people label for the first time. Raises ConditionError."""
    create_condition(condition, acting_user=acting_user)
    ManualSetup.objects.create(condition=condition, from_queue=from_queue, seed=new_seed())
    return condition


@transaction.atomic
def label_again(
    *,
    of: Condition,
    name: str,
    purpose: str,
    share: int = 100,
    only_unjudgeable: bool = False,
    acting_user: Person | None,
) -> Condition:
    """Make a condition in which answers of another one are labelled again: by somebody else, or by the same person.

    It is the same work, so it is done under the same protocol and beside the same labels of a model, if any.
    purpose: SECOND or REPEAT; share: percent of each topic's answers, 1 to 100; only_unjudgeable: only what the
    first person couldn't judge. Raises ConditionError.
    """
    first = ManualSetup.objects.filter(condition=of).select_related("of").first()
    if first is None or not kind_of(of).can_be_repeated:
        raise ConditionError(f"{of} was not labelled by people here, so nobody can be asked to do it again.")
    if of.sample:
        raise ConditionError(f"{of} has a study's sample: let somebody else label it from the study's page.")
    if first.of:
        raise ConditionError(f"{of} labels {first.of} again itself: have {first.of} labelled once more.")
    if not 1 <= share <= 100:
        raise ConditionError("The share of the answers is 1 to 100 percent.")
    Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=of.pk)  # one replicate after another
    same = Condition.everything.filter(
        campaign=of.campaign_id, kind=of.kind, method=of.method, nuggets=of.nuggets_id, shown=of.shown_id
    )
    condition = Condition(
        campaign=of.campaign,
        name=name,
        assessor_name=of.assessor_name,  # the same work: another name would tell that it is done again
        kind=of.kind,
        method=of.method,
        nuggets=of.nuggets,
        shown=of.shown,
        of_passages=of.of_passages,
        replicate=(same.aggregate(last=Max("replicate"))["last"] or 0) + 1,
    )
    create_condition(condition, acting_user=acting_user, protocol=of.protocol)
    ManualSetup.objects.create(
        condition=condition, purpose=purpose, of=of, share=share, only_unjudgeable=only_unjudgeable, seed=new_seed()
    )
    return condition


def require_right_person(task: Task, setup: ManualSetup, sheets: QuerySet[Any]) -> None:
    """Raise PlanError where the labels on a topic should be somebody else's.

    sheets: all on the task's topic of which somebody is asked something, under whatever condition.
    """
    person, qid = task.person, task.topic.qid
    if setup.purpose == FIRST:
        seconds = conditions(of=task.condition_id, purpose=SECOND)
        if has_labelled(person, sheets.filter(condition__in=seconds)):
            raise PlanError(f"{person} labels {qid} beside {task.condition}: both would be the same person's.")
        return
    firsts = sheets.filter(condition=setup.of_id).exclude(task=None)
    before = set(firsts.values_list("task__person", flat=True))
    if not before:
        raise NotYet(f"Nobody was given {qid} under {setup.of} yet: there is nothing to repeat.")
    if setup.purpose == REPEAT:
        if before != {person.pk}:
            raise PlanError(f"{person} did not label all of {qid} under {setup.of}: only who did can repeat it.")
        if firsts.exclude(task__state=Task.State.FINISHED).exists():
            raise NotYet(f"{person} has not signed {qid} off under {setup.of} yet.")
        return
    others = conditions(of=setup.of_id).exclude(pk=setup.pk)
    under = models.Q(condition=setup.of_id) | models.Q(condition__in=others)
    if has_labelled(person, sheets.filter(under)):
        raise PlanError(f"{person} labelled {qid} before: a second opinion is somebody else's.")


def has_labelled(person: Person, sheets: QuerySet[Any]) -> bool:
    """Say whether some of the sheets are a person's, or were before they were taken over and something was said."""
    theirs = sheets.filter(revisions__task__person=person, revisions__judge__isnull=False)
    return sheets.filter(task__person=person).exists() or theirs.exists()


def asked_again(setup: ManualSetup, first: Any, asked: Iterable[Item]) -> list[Item]:
    """Return what is asked again of what a first sheet asks."""
    return [item for item in asked if not setup.only_unjudgeable or str(item) in first.cannot]


class HasAnswer(Protocol):
    """What is wanted of somebody: an answer, and what is asked of it."""

    @property
    def answer(self) -> Answer: ...


Wanted = TypeVar("Wanted", bound=HasAnswer)


def drawn(setup: ManualSetup, topic: Topic, wanted: Iterable[Wanted]) -> list[Wanted]:
    """Return the share that is labelled again of a topic's answers, at least one; their runs are read with them.

    They are the same whoever labels them: drawn by the seed, the topic and the run alone.
    """
    return drawn_by(setup, topic, wanted, lambda one: one.answer.run.tag)


def drawn_by(setup: ManualSetup, topic: Topic, wanted: Iterable[Item], name: Callable[[Item], str]) -> list[Item]:
    """Return the share of what is wanted, drawn by the seed, the topic and these names alone."""
    in_order = sorted(wanted, key=lambda one: sha256(f"{setup.seed} {topic.qid} {name(one)}".encode()).digest())
    return in_order[: -(-len(in_order) * setup.share // 100)]


def without_sheet(setup: ManualSetup, wanted: Sequence[Wanted], there: Mapping[int, JudgedAnswer]) -> list[Wanted]:
    """Return those of the answers to which there is no sheet yet. there: the sheets, by the answer's key."""
    new = [one for one in wanted if one.answer.pk not in there]
    if setup.share < 100:
        asked = sum(not sheet.out_of_scope for sheet in there.values())
        new = new[: max(0, len(wanted) - asked)]  # an answer that came since changes what is drawn
    return new


def ask_more(sheet: Any, asked: Sequence[Any]) -> None:
    """Ask a sheet also about items that the first person has said since that they can't judge."""
    if more := len(asked) - len(sheet.asked):
        sheet.revise("asked more", {}, judge_id=None, asked=asked, columns={"to_do": sheet.to_do + more})


def repeats() -> str:
    """Return the condition that a task's person is repeating it, for a query in which the task is work_task.

    Who labels answers again, to see whether they say the same, must not look at what they said before: the first time,
    or in another repetition. Of several that are open that is to be done first which was given last.
    """
    return f"""EXISTS (
        SELECT 1 FROM {ManualSetup._meta.db_table} own
        JOIN {ManualSetup._meta.db_table} setup ON setup.of_id = COALESCE(own.of_id, own.condition_id)
        JOIN work_task again ON again.condition_id = setup.condition_id
        WHERE own.condition_id = work_task.condition_id AND setup.purpose = '{REPEAT}' AND again.state = 'open'
            AND again.person_id = work_task.person_id AND again.topic_id = work_task.topic_id
            AND again.id <> work_task.id
            AND (again.id > work_task.id OR work_task.state <> 'open'))"""  # noqa: S608  # ours


def require_not_repeated(task: Task) -> None:
    """Raise PermissionDenied where a task's person is repeating it now."""
    is_repeated = models.expressions.RawSQL(repeats(), (), output_field=models.BooleanField())  # noqa: S611  # ours
    require_no_repetition(Task.objects.filter(is_repeated, pk=task.pk).exists())
