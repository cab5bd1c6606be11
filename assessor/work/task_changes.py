"""What changes of work that is given: whose it is, if it rests, which runs are judged. Nothing said is lost."""

from collections.abc import Sequence

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import CONTROL, Condition, Run, Topic
from assessor.work.actions import PlanError, folded, give, lock, refuse_taken, require_person
from assessor.work.judging_pool import ALL, NONE, Moved, judged_under
from assessor.work.judging_pool import folded as folded_rule
from assessor.work.models import Scope, Task


@transaction.atomic
def reassign(*, task: Task, person: Person, reason: str, acting_user: Person | None) -> Task:
    """Make an open topic somebody else's. Raises PlanError.

    What its person has done counts as before; the rest starts anew, and what they began of it is kept in the history.
    """
    topic, condition = task.topic, task.condition
    reason = folded(reason)
    if not reason:
        raise PlanError(f"Say why {topic.qid} is to be {person}'s: it is kept with the task.")
    if person == task.person:
        raise PlanError(f"{topic.qid} is {person}'s already under {condition}.")
    require_person(person, condition.campaign, condition, [topic])
    lock(condition)
    if not Task.objects.filter(pk=task.pk, state=Task.State.OPEN).exists():
        raise PlanError(f"{task} is not open any more: there is nothing to hand over.")
    new = give("task given", topic, condition, person, acting_user, reason)
    # After the answers, which is the order in which every save locks them and its task.
    Task.objects.filter(pk=task.pk).update(state=Task.State.WITHDRAWN)
    told = {"condition": condition.name, "to": str(person), "reason": reason}
    history.record("task reassigned", task, campaign=condition.campaign, person=acting_user, **told)
    if not kind_of(condition).is_shared(condition):
        refuse_taken([topic], condition, but=person)
    return new


@transaction.atomic
def pause(*, task: Task, paused: bool, reason: str, acting_user: Person | None) -> None:
    """Have an open topic rest, or go on. Raises PlanError. While it rests it can't be opened; saves are still taken."""
    reason = folded(reason)
    if not Task.objects.filter(pk=task.pk, state=Task.State.OPEN, paused=not paused).update(paused=paused):
        raise PlanError(f"{task} is not open, or is {'paused' if paused else 'going on'} already.")
    told = {"condition": task.condition.name} | ({"reason": reason} if reason else {})
    verb = "task paused" if paused else "task resumed"
    history.record(verb, task, campaign=task.campaign, person=acting_user, **told)


@transaction.atomic
def set_rule(
    *, condition: Condition, topics: Sequence[Topic], rule: str, reason: str, acting_user: Person | None
) -> list[Topic]:
    """Have the runs of a rule judged on topics under a condition; return on which topics that is new. Raises PlanError.

    follow_scope() carries it out, a topic at a time.
    """
    try:
        rule = folded_rule(rule)
    except ValueError as error:
        raise PlanError(f"{rule!r} is no rule of runs; {error}.") from error
    reason = folded(reason)
    if not condition.judges_answers:
        if rule != ALL:
            raise PlanError(f"Under {condition} no answers of runs are judged, so there is no rule for them.")
        return []
    lock(condition)
    known = judged_under(condition)
    changed = [topic for topic in dict.fromkeys(topics) if known.rule(topic.pk) != rule]
    for topic in changed:
        before = known.rule(topic.pk)
        Scope.objects.create(condition=condition, topic=topic, rule=rule, reason=reason, person=acting_user)
        told = {"condition": condition.name, "before": before, "after": rule} | ({"reason": reason} if reason else {})
        history.record("runs to judge", topic, campaign=condition.campaign, person=acting_user, **told)
    return changed


@transaction.atomic
def drop_run(*, condition: Condition, run: Run, is_out: bool, reason: str, acting_user: Person | None) -> None:
    """Drop a run from a condition, or bring it back; nothing where it is so. Raises PlanError.

    follow_scope() carries it out, a topic at a time.
    """
    reason = folded(reason)
    if not reason:
        raise PlanError(f"Say why {run} is {'dropped' if is_out else 'brought back'}: it is kept in the history.")
    if run.task == CONTROL:
        raise PlanError(f"{run} is a control run: no person is asked of it, and it is in no statistic over systems.")
    if not condition.can_drop_runs:
        raise PlanError(f"Under {condition} no answers of runs are judged.")
    lock(condition)
    if (run.pk in judged_under(condition).dropped) == is_out:
        return
    rule = NONE if is_out else ALL
    Scope.objects.create(condition=condition, run=run, rule=rule, reason=reason, person=acting_user)
    told = {"condition": condition.name, "reason": reason}
    verb = "run dropped" if is_out else "run brought back"
    history.record(verb, run, campaign=condition.campaign, person=acting_user, **told)


@transaction.atomic
def follow_scope(condition: Condition, topic: Topic) -> Moved:
    """Mark what is said on a topic under a condition by what is judged now. Doing it twice changes nothing more."""
    lock(condition)
    kind = kind_of(condition)
    return kind.follow_scope(condition, topic) if kind.can_drop_runs else Moved(0, 0)
