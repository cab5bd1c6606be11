"""Changes of the plan after work began. Nothing that was said is lost by any of them."""

from typing import Any, NamedTuple

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Condition, Run, Topic
from assessor.plan.actions.judging_pool import follow_scope, set_runs
from assessor.plan.actions.planned_work import cancel, plan_work
from assessor.plan.models import WHOEVER_DRAWS, Planned
from assessor.work import task_changes
from assessor.work.actions import PlanError, folded, lock, take_out_of_queue, withdraw_task
from assessor.work.judging_pool import NONE, judged_under
from assessor.work.models import Task, Waiting
from assessor.work.write_protocol import Stale


class Piece(NamedTuple):
    """A piece of work as it is: whose a topic is, or is to be, under a condition, and which runs are judged there.

    task: None where it is not begun; person: None for whoever draws it.
    """

    condition: Condition
    topic: Topic
    task: Task | None
    waiting: Waiting | None
    planned: Planned | None
    rule: str

    @property
    def person(self) -> Person | None:
        holder = self.task or self.planned
        return holder.person if holder else None

    @property
    def paused(self) -> bool:
        return self.task is not None and self.task.paused

    @property
    def seen(self) -> str:
        """What somebody who changes it has seen, in words."""
        state = self.task.state if self.task else "waits"
        return f"{self.person or WHOEVER_DRAWS}, {self.rule}, {state}{', paused' if self.paused else ''}"


class Wanted(NamedTuple):
    """What a piece of work is to be."""

    condition: Condition
    person: Person | None
    rule: str
    paused: bool
    reason: str


def piece_at(condition: Condition, topic: Topic, person_id: int | None = None) -> Piece | None:
    """Return the piece of work on a topic under a condition; person_id: whose, where several people have it."""
    tasks = Task.objects.filter(condition=condition, topic=topic).exclude(state=Task.State.WITHDRAWN)
    planned = Planned.objects.filter(condition=condition, topic=topic).select_related("person", "condition", "topic")
    if person_id is not None:
        tasks, planned = tasks.filter(person=person_id), planned.filter(person=person_id)
    task = tasks.select_related("person", "condition", "topic", "campaign").order_by("pk").last()
    waiting = Waiting.objects.filter(condition=condition, topic=topic).select_related("condition", "topic").first()
    row = planned.first()
    if not (task or waiting or row):
        return None
    return Piece(condition, topic, task, waiting, row, judged_under(condition, topic.pk).rule(topic.pk))


@transaction.atomic
def change_piece(*, piece: Piece, wanted: Wanted, seen: str, acting_user: Person | None) -> None:
    """Change whose a piece of work is, its condition, its runs, whether it rests. Raises Stale and PlanError.

    seen: what the person who changes it has seen (Piece.seen).
    """
    lock(piece.condition)
    person_id = piece.task.person_id if piece.task else None
    now = piece_at(piece.condition, piece.topic, person_id)
    if now is None or now.seen != seen:
        raise Stale
    if wanted.condition != now.condition:
        _change_condition(now, wanted, acting_user)
        return
    by: dict[str, Any] = {"acting_user": acting_user, "reason": wanted.reason}
    if wanted.rule and wanted.rule != now.rule:
        set_runs(condition=now.condition, topics=[now.topic], rule=wanted.rule, **by)
    if wanted.person != now.person or (wanted.person is None and now.task is not None):
        _change_person(now, wanted, acting_user)
    elif now.task and wanted.paused != now.paused:
        task_changes.pause(task=now.task, paused=wanted.paused, **by)


def _change_person(now: Piece, wanted: Wanted, acting_user: Person | None) -> None:
    by: dict[str, Any] = {"acting_user": acting_user, "reason": wanted.reason}
    if now.task and wanted.person:
        task_changes.reassign(task=now.task, person=wanted.person, **by)
        _plan_no_more(now, acting_user)
        return
    _end(now, wanted.reason, acting_user)
    plan_work(condition=now.condition, topics=[now.topic], person=wanted.person, **by)


def _change_condition(now: Piece, wanted: Wanted, acting_user: Person | None) -> None:
    """Have a topic done under another condition; what was said under the first stays there and counts no longer."""
    reason = folded(wanted.reason)
    if not reason:
        raise PlanError(f"Say why {now.topic.qid} is to be done under {wanted.condition}: it is kept in the history.")
    if wanted.condition.kind != now.condition.kind:
        raise PlanError(f"{wanted.condition} is other work than {now.condition}: plan it beside it.")
    _end(now, reason, acting_user)
    if now.waiting and now.task and now.task.state == Task.State.OPEN:  # or it would be free in its queue again
        take_out_of_queue(waiting=now.waiting, acting_user=acting_user)
    by: dict[str, Any] = {"acting_user": acting_user, "reason": reason}
    if now.condition.judges_answers:
        set_runs(condition=now.condition, topics=[now.topic], rule=NONE, **by)
    told = {"before": now.condition.name, "after": wanted.condition.name, "reason": reason}
    history.record("condition changed", now.topic, campaign=now.condition.campaign, person=acting_user, **told)
    rule = wanted.rule if wanted.condition.judges_answers else ""
    plan_work(condition=wanted.condition, topics=[now.topic], person=wanted.person, rule=rule, **by)


def _end(now: Piece, reason: str, acting_user: Person | None) -> None:
    """Take a piece of work from whoever has it, or is to have it. A drawn topic is free again in its queue."""
    _plan_no_more(now, acting_user)
    if now.task and now.task.state == Task.State.OPEN:
        withdraw_task(task=now.task, acting_user=acting_user)
    if now.waiting and not now.task:
        take_out_of_queue(waiting=now.waiting, acting_user=acting_user)


def _plan_no_more(now: Piece, acting_user: Person | None) -> None:
    """Take back all that waits and that a later decision replaces, or it would overrule that one day."""
    waits = Planned.objects.filter(condition=now.condition, topic=now.topic).order_by("pk")
    if kind_of(now.condition).is_shared(now.condition):  # several people have a topic, each for themselves
        waits = waits.filter(person=now.person)
    for planned in waits.select_related("condition__campaign", "topic", "person"):
        cancel(planned=planned, acting_user=acting_user)


def drop_run(*, condition: Condition, run: Run, is_out: bool, reason: str, acting_user: Person | None) -> None:
    """Drop a run from a condition, or bring it back, with all that was said on its answers. Raises PlanError.

    Where it is so already, what broke off is carried on.
    """
    task_changes.drop_run(condition=condition, run=run, is_out=is_out, reason=reason, acting_user=acting_user)
    # A topic at a time: assessors save meanwhile.
    for topic in Topic.objects.filter(answers__run=run).order_by("qid").distinct():
        follow_scope(condition, topic, acting_user=acting_user)
