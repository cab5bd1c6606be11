"""The writers of tasks and of active time."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from assessor.collection import history
from assessor.collection.models import Campaign, Condition, Person, Topic
from assessor.collection.roles import ASSESSOR, has_role
from assessor.work.blindness import barred_from, has_seen, sees_grades
from assessor.work.kinds import is_registered, is_shared, kind_of, refusal
from assessor.work.models import Task, TimeSpent

MAX_REASON = 500  # characters
MAX_SECONDS = 120  # the browser reports every half minute


class PlanError(Exception):
    """The plan can't be changed like that; the text says why."""


@transaction.atomic
def give_tasks(
    *,
    campaign: Campaign,
    topics: Sequence[Topic],
    condition: Condition,
    person: Person,
    acting_user: Person | None,
    reason: str = "",
) -> list[Task]:
    """Give a person topics under a condition, all or none. Raises PlanError.

    reason: why to this person, where the work would be somebody else's; it is kept with the task.

    One that was withdrawn from them comes back. A topic that they have under it already stays as it is, unless its kind
    finds something new to do there.
    """
    if not topics:
        raise PlanError("Choose at least one topic.")
    if not is_registered(condition.kind):
        raise PlanError(f"Nobody can be given {condition.name}: it is not done by people on a screen.")
    if refused := refusal(condition, topics):
        raise PlanError(refused)
    if not has_role(person, ASSESSOR):
        raise PlanError(f"{person} is not an assessor.")
    if barred := barred_from(person, campaign):
        raise PlanError(barred)
    if seen := has_seen(person, topics, condition):
        qids = ", ".join(sorted(topic.qid for topic in topics if topic.pk in seen))
        raise PlanError(f"{person} has seen LLM output of this kind on {qids}, and {condition.name} is done blind.")
    if shown := sees_grades(person, topics, condition):
        qids = ", ".join(sorted(topic.qid for topic in topics if topic.pk in shown))
        raise PlanError(
            f"{person} has both nuggets and grading from scratch on {qids} then. The nugget editor shows grades: who "
            "grades a topic from scratch writes its nuggets after that, and not the other way round."
        )
    # One at a time under a condition, or two people could each find a topic free and both get it.
    Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=condition.pk)
    if not is_shared(condition):
        _refuse_second_person(topics, condition, person)
    reason = " ".join(reason.split())
    if len(reason) > MAX_REASON or "\x00" in reason:
        raise PlanError(f"A reason has at most {MAX_REASON} characters.")
    return [_give_task(campaign, topic, condition, person, acting_user, reason) for topic in topics]


def _refuse_second_person(topics: Iterable[Topic], condition: Condition, person: Person) -> None:
    others = Task.objects.filter(condition=condition, topic__in=list(topics)).exclude(person=person)
    others = others.exclude(state=Task.State.WITHDRAWN).select_related("topic", "person")
    if others:
        taken = ", ".join(f"{task.topic.qid} ({task.person})" for task in others)
        raise PlanError(f"Under {condition.name} these topics are somebody else's already: {taken}.")


def _give_task(
    campaign: Campaign, topic: Topic, condition: Condition, person: Person, acting_user: Person | None, reason: str
) -> Task:
    task, is_new = Task.objects.get_or_create(
        topic=topic,
        condition=condition,
        kind=condition.kind,
        person=person,
        defaults={"campaign": campaign, "created_by": acting_user, "reason": reason},
    )
    if reason and task.reason != reason:
        task.reason = reason
        task.save(update_fields=["reason"])
    before = None if is_new else task.state
    if is_new:
        kind_of(task).prepare(task)
    else:
        kind_of(task).renew(task)
    if task.state == Task.State.WITHDRAWN:
        task.state = Task.State.OPEN
        task.save(update_fields=["state"])
    if task.state != before:
        told = {"condition": condition.name} | ({"reason": reason} if reason else {})
        history.record("task given", task, campaign=campaign, person=acting_user, **told)
    return task


@transaction.atomic
def withdraw_task(*, task: Task, acting_user: Person) -> None:
    """Take an unfinished task from a person. What they did stays, and is there again if they get it back."""
    changed = Task.objects.filter(pk=task.pk, state=Task.State.OPEN).update(state=Task.State.WITHDRAWN)
    if not changed:
        raise PlanError(f"{task} is not open any more.")
    history.record("task withdrawn", task, campaign=task.campaign, person=acting_user)


def record_time(*, task: Task, key: UUID, seconds: int) -> None:
    """Add active seconds to a task; a key counts once, and never more time than has passed."""
    try:
        with transaction.atomic():
            Task.objects.select_for_update(no_key=True).get(pk=task.pk)  # reports of two tabs one after the other
            last = task.times.order_by("-at").first()
            since = task.created_at if last is None else last.at
            passed = max(timedelta(), timezone.now() - since)
            counted = min(seconds, MAX_SECONDS, int(passed.total_seconds()) + 1)
            TimeSpent.objects.create(task=task, key=key, seconds=counted)
            Task.objects.filter(pk=task.pk).update(seconds=F("seconds") + counted)
    except IntegrityError:
        return  # sent twice
