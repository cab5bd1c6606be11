"""Topics are made people's, and taken from them."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.access import members
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition, Role, Topic
from assessor.runtime.analyze import look_at_grown_tables
from assessor.runtime.commits import after_commit
from assessor.work.blindness import barred_from, decides, had_feedback, has_seen, sees_grades
from assessor.work.models import MAX_REASON, Task


class PlanError(Exception):
    """The plan can't be changed like that; the text says why."""


class Taken(PlanError):
    """Topics are somebody else's; the text says whose."""


class NotYet(PlanError):
    """It can't be done yet; the text says what it waits for."""


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
    require_work(condition, topics)
    require_person(person, campaign, condition, topics)
    lock(condition)
    if not kind_of(condition).is_shared(condition):
        refuse_taken(topics, condition, but=person)
    reason = folded(reason)
    after_commit(look_at_grown_tables)  # a topic may have hundreds of sheets
    return [give("task given", topic, condition, person, acting_user, reason) for topic in topics]


def require_person(person: Person, campaign: Campaign, condition: Condition, topics: Sequence[Topic]) -> None:
    """Raise PlanError where a person can't have topics under a condition, whatever else is ready."""
    require_assessor(person, campaign)

    def named(keys: set[int]) -> str:
        return ", ".join(sorted(topic.qid for topic in topics if topic.pk in keys))

    if decided := decides(person, topics, condition):
        raise PlanError(
            f"{person} has both an adjudication and other labels of this kind to give on {named(decided)} then. An "
            "adjudication shows what other people said: who decides labels nothing else there, and who still labels "
            "there decides nothing before that is done."
        )
    if told := had_feedback(person, topics, condition):
        raise PlanError(f"{person} has read the feedback on {named(told)}: practice is done once.")
    if seen := has_seen(person, topics, condition):
        where = f"{named(seen)}, and {condition.name} is done blind"
        raise PlanError(f"{person} has seen LLM output of this kind on {where}.")
    if shown := sees_grades(person, topics, condition):
        raise PlanError(
            f"{person} has both nuggets and grading from scratch on {named(shown)} then. The nugget editor shows "
            "grades: who grades a topic from scratch writes its nuggets after that, and not the other way round."
        )


def require_work(condition: Condition, topics: Sequence[Topic]) -> None:
    """Raise PlanError where nobody can do these topics under a condition."""
    if not topics:
        raise PlanError("Choose at least one topic.")
    kind = kind_of(condition)
    if refused := kind.refusal(condition, []):
        raise PlanError(refused)
    if lacking := kind.refusal(condition, topics):
        raise NotYet(lacking)


def require_assessor(person: Person, campaign: Campaign) -> None:
    """Raise PlanError where a person can't be given any work in a campaign."""
    if not members(campaign, Role.ASSESSOR).filter(pk=person.pk, is_active=True).exists():
        raise PlanError(f"{person} is not an assessor of {campaign}.")
    if barred := barred_from(person, campaign):
        raise PlanError(barred)


def lock(condition: Condition) -> None:
    """Let one at a time give or draw under a condition, or two people could each find a topic free and both get it."""
    Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=condition.pk)


def folded(reason: str) -> str:
    """Return a reason with its blanks folded. Raises PlanError."""
    reason = " ".join(reason.split())
    if len(reason) > MAX_REASON or "\x00" in reason:
        raise PlanError(f"A reason has at most {MAX_REASON} characters.")
    return reason


def refuse_taken(topics: Iterable[Topic], condition: Condition, but: Person | None = None) -> None:
    """Raise Taken where topics are somebody's under a condition; but: not this person's."""
    others = Task.objects.filter(condition=condition, topic__in=list(topics)).exclude(person=but)
    others = others.exclude(state=Task.State.WITHDRAWN).select_related("topic", "person")
    if others:
        taken = ", ".join(f"{task.topic.qid} ({task.person})" for task in others)
        raise Taken(f"Under {condition.name} these topics are somebody else's already: {taken}.")


def give(
    verb: str,
    topic: Topic,
    condition: Condition,
    person: Person,
    acting_user: Person | None,
    reason: str,
    leased_until: datetime | None = None,
) -> Task:
    """Make a topic a person's: leased, or for good. verb: what the history calls that."""
    campaign = condition.campaign
    task, is_new = Task.objects.get_or_create(
        topic=topic,
        condition=condition,
        kind=condition.kind,
        person=person,
        defaults={"campaign": campaign, "created_by": acting_user, "reason": reason, "leased_until": leased_until},
    )
    if (reason and task.reason != reason) or task.leased_until != leased_until:
        task.reason = reason or task.reason
        task.leased_until = leased_until
        task.save(update_fields=["reason", "leased_until"])
    before = None if is_new else task.state
    if is_new:
        kind_of(task).prepare(task)
    else:
        kind_of(task).renew(task)
    if task.state == Task.State.WITHDRAWN:
        task.state, task.paused = Task.State.OPEN, False  # it rested with who had it then
        task.save(update_fields=["state", "paused"])
    if task.state != before:
        told = {"condition": condition.name} | ({"reason": reason} if reason else {})
        history.record(verb, task, campaign=campaign, person=acting_user, **told)
    return task


@transaction.atomic
def withdraw_task(*, task: Task, acting_user: Person | None) -> None:
    """Take an unfinished task from a person. What they did stays, and is there again if they get it back."""
    changed = Task.objects.filter(pk=task.pk, state=Task.State.OPEN).update(state=Task.State.WITHDRAWN)
    if not changed:
        raise PlanError(f"{task} is not open any more.")
    history.record("task withdrawn", task, campaign=task.campaign, person=acting_user)
