"""Conditions under which people judge support, and the citations that they are given."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import Q

from assessor.accounts.models import Person
from assessor.campaigns.actions import judge_of
from assessor.campaigns.models import Answer, Campaign, Condition, Topic
from assessor.campaigns.passages import lacking_passages
from assessor.labels.manual_setups import create_first, require_right_person
from assessor.labels.models import ManualSetup
from assessor.labels.shown_labels import is_shown, require_labels_to_show
from assessor.studies.actions import require_independent
from assessor.work import allocation
from assessor.work.actions import NotYet, PlanError
from assessor.work.allocation import hand_over, next_place, order
from assessor.work.judging_pool import Judged, Moved, judged_under, mark
from assessor.work.models import Task
from support.actions.equal_pairs import note_equal
from support.actions.judged_answers import add_sheets, lock, open_waiting, resolve, sheet_row
from support.actions.repetitions import judged_again
from support.label_kind import FROM_SCRATCH, POST_EDITED, SUPPORT
from support.models import SupportJudgment, SupportSheet
from support.queries import (
    answers_in_scope,
    citations_are_known,
    given_labels,
    progress,
    sheets_on,
    to_judge,
    with_judges,
)


def create_support(*, campaign: Campaign, name: str, shown: Condition | None, acting_user: Person | None) -> Condition:
    """Make a condition in which people judge support: from scratch, or shown a model's labels.

    shown: the condition whose labels stand beside the choices; it names the one judge. Raises ConditionError.
    """
    if shown:
        require_labels_to_show(SUPPORT, campaign, shown)
    condition = Condition(
        campaign=campaign,
        name=name,
        kind=SUPPORT.name,
        method=POST_EDITED if shown else FROM_SCRATCH,
        shown=shown,
    )
    return create_first(condition, acting_user=acting_user)


def prepare_sheets(task: Task) -> None:
    """Make the sheets that a task's person will fill, and take over what another one left. Raises PlanError."""
    setup = ManualSetup.objects.select_related("of").filter(condition=task.condition).first()
    if setup is None:
        raise PlanError(f"Nobody can be given {task.condition}: it is not done by people on a screen.")
    require_independent(task)
    require_right_person(task, setup, with_judges(task.topic_id))
    if task.condition.protocol.equal_pairs_once:
        # All at once and in their order, since a label that is on its way may be for several of them.
        lock(task.topic, SupportSheet.in_or_out.filter(condition=task.condition))
    # First what can be judged by now: then it is known who has done all of an answer.
    resolve(task.condition, task.topic)
    if task.condition.shown:
        open_waiting(task.condition, task.topic)
    take_over(task, setup)
    _add_sheets(task, setup)
    if not SupportSheet.objects.filter(task=task).exists():
        raise NotYet(f"There is no answer to judge on {task.topic.qid} under {task.condition}.")
    note_equal(task.condition, task.topic_id)
    count(task)


def open_labelled(shown: Condition, topics: Collection[int]) -> None:
    """Open what waited for labels of a model that are there now, on topics by key, and the tasks that it is part of.

    Called once these labels are committed: whoever holds their sheets must wait for nobody else's.
    """
    if not is_shown(shown):
        return
    on_topics = SupportSheet.objects.filter(condition__shown=shown, answer__topic__in=topics)
    waiting = on_topics.filter(waiting_for_label__gt=0)
    tasks = Task.objects.filter(pk__in=waiting.order_by().values("task"))
    for task in tasks.select_related("condition__shown", "condition__protocol", "topic").order_by("pk"):
        with transaction.atomic():
            if open_waiting(task.condition, task.topic):
                note_equal(task.condition, task.topic_id)
                count(task)


def renew_sheets(task: Task) -> None:
    """Add what came since to a task that is given again, and open it if something is to be done. Raises PlanError."""
    prepare_sheets(task)
    task.refresh_from_db(fields=["state", "done", "total"])


def _judged_first(task: Task, judged: Judged) -> list[tuple[Answer, dict[str, str]]]:
    """Return the answers that have no sheet yet, with the citations that the protocol has judged: docids by key."""
    there = SupportSheet.in_or_out.filter(condition=task.condition, answer__topic=task.topic).values("answer")
    own = answers_in_scope(task.condition, [task.topic]).exclude(pk__in=there)
    rows = own.order_by().values_list("pk", "run")
    asked_for = Answer.objects.filter(pk__in=[pk for pk, run in rows if judged.holds(task.topic_id, run)])
    # Of a bare text that came with labels of nuggets nobody knows yet what it cites.
    new = [answer for answer in asked_for.order_by("run__tag") if citations_are_known(answer)]
    asked = to_judge(task.condition, new)
    return [(answer, asked[answer.pk]) for answer in new]


def _add_sheets(task: Task, setup: ManualSetup) -> None:
    """Write the sheets that are not there yet; in shuffled order, so that not even their keys tell a run."""
    condition, topic = task.condition, task.topic
    judged = judged_under(condition, topic.pk)
    found = judged_again(task, setup) if setup.of else _judged_first(task, judged)
    new = [(answer, citations) for answer, citations in found if judged.holds(topic.pk, answer.run_id)]
    order(setup.seed, task).shuffle(new)
    cited = ((answer.run_id, docid) for answer, citations in new for docid in citations.values())
    lacking = lacking_passages(condition.campaign, cited)
    labelled = given_labels(condition.shown, topic) if condition.shown else None
    judge, first = judge_of(task.person), next_place(SupportSheet.in_or_out.filter(task=task))
    rows = []
    for place, (answer, citations) in enumerate(new, first):
        unresolved = [key for key, docid in citations.items() if (answer.run_id, docid) in lacking]
        waiting: list[str] = []
        if labelled is not None:
            there_is = labelled.get(answer.pk, {})
            waiting = [key for key in citations if key not in unresolved and key not in there_is]
        rows.append(
            sheet_row(
                condition=condition.pk,
                answer=answer.pk,
                judge=judge.pk,
                asked=citations,
                unresolved=unresolved,
                waiting=waiting,
                task=task.pk,
                place=place,
            )
        )
    add_sheets(rows)


def take_over(task: Task, setup: ManualSetup) -> None:
    """Make a task's what somebody else was given before and has not done; what they began starts anew.

    Answers that they have done stay theirs, and count. Those of which nothing is said, because nothing can be, go
    along.
    """
    left = sheets_on(task).filter(Q(to_do__gt=0) | Q(total=0)).exclude(task=task)
    sheets = list(SupportSheet.with_items(left.order_by("pk")))
    order(setup.seed, task).shuffle(sheets)
    hand_over(task, sheets, next_place(SupportSheet.in_or_out.filter(task=task)), _said_on)


def _said_on(sheet: SupportSheet) -> dict[str, object]:
    return {**sheet.labels, **sheet.cannot, **sheet.flags, **sheet.shown}


def follow_scope(condition: Condition, topic: Topic) -> Moved:
    """Mark the sheets of a topic that are not judged any more, or are again.

    It is called in a transaction.
    """
    if condition.protocol.equal_pairs_once:  # all at once and in their order, as above
        lock(topic, SupportSheet.in_or_out.filter(condition=condition))
    marked = mark(SupportSheet, condition, topic)
    if any(marked):
        gone = SupportSheet.everything.filter(condition=condition.pk, answer__topic=topic, out_of_scope=True)
        SupportJudgment.everything.filter(sheet__in=gone, equal_to__isnull=False).update(equal_to=None)
        note_equal(condition, topic.pk)
        allocation.count_all(condition, topic, count)
    return marked


def count(task: Task) -> None:
    """Bring a task's counters up to date, and open it where something is to be done again."""
    allocation.count(task, _done_of_all, "support opened again")


def _done_of_all(task: Task) -> tuple[int, int]:
    found = progress(sheets_on(task))
    return found.done, found.total
