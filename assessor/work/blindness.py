"""Who may do blind work: nobody who has seen what a model gave there, or in an adjudication what other people said."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from assessor.collection.models import Campaign, Condition, Organizer, Person, Protocol, Topic
from assessor.collection.roles import ADMINISTRATOR, has_role
from assessor.work.models import Exposure, Task


def in_role(role: str) -> str:
    """Return the condition that a task's person has a role, for a query in which the task is work_task."""
    member = "FROM collection_person_groups member JOIN auth_group role ON role.id = member.group_id"
    return f"EXISTS (SELECT 1 {member} WHERE member.person_id = work_task.person_id AND role.name = '{role}')"


# Where people see what others said on a topic for practice, once they have signed it off.
FEEDBACK = "feedback on practice"

# What why_not_blind() must know of a task and its person: columns of a query in which the task is work_task.
FACTS = {
    "keeps_blind": "(SELECT blind_after_seeing FROM collection_protocol newest"
    " WHERE newest.campaign_id = work_task.campaign_id ORDER BY newest.version DESC LIMIT 1)",
    "is_administrator": in_role(ADMINISTRATOR),
    "has_organized": "EXISTS (SELECT 1 FROM collection_organizer organizer"
    " WHERE organizer.campaign_id = work_task.campaign_id AND organizer.person_id = work_task.person_id)",
    "has_seen": "EXISTS (SELECT 1 FROM work_exposure seen WHERE seen.person_id = work_task.person_id"
    " AND seen.topic_id = work_task.topic_id AND seen.kind = work_task.kind)",
    "has_feedback": "EXISTS (SELECT 1 FROM work_exposure told WHERE told.person_id = work_task.person_id"
    " AND told.topic_id = work_task.topic_id AND told.kind = work_task.kind"
    " AND told.\"where\" = 'feedback on practice')",  # FEEDBACK
    # As decides() has it of what is given.
    "has_decided": "(SELECT method FROM collection_condition here WHERE here.id = work_task.condition_id)"
    " <> 'adjudicated' AND EXISTS (SELECT 1 FROM work_task decided"
    " JOIN collection_condition there ON there.id = decided.condition_id"
    " WHERE there.method = 'adjudicated' AND decided.person_id = work_task.person_id"
    " AND decided.topic_id = work_task.topic_id AND decided.kind = work_task.kind)",
}


def record_exposure(person: Person, topics: Iterable[Topic], kind: str, where: str) -> None:
    """Record that a person saw what a model gave on topics for a kind of work, or what they decide between.

    where: on which screen.
    """
    Exposure.objects.bulk_create(Exposure(person=person, topic=topic, kind=kind, where=where) for topic in topics)


def barred_from(person: Person, campaign: Campaign) -> str | None:
    """Say why a person may not assess in a campaign at all, or None."""
    if not campaign.protocol.blind_after_seeing:
        return None
    is_administrator = has_role(person, ADMINISTRATOR)
    # Former organizers too: what they saw, they have seen.
    if is_administrator or Organizer.objects.filter(campaign=campaign, person=person).exists():
        return _why_barred(person, campaign, is_administrator)
    return None


def not_barred(person: Person, conditions: QuerySet[Condition]) -> QuerySet[Condition]:
    """Return those of the conditions in whose campaigns a person may assess: for whom barred_from() says nothing."""
    newest = Protocol.objects.filter(campaign=OuterRef("campaign")).order_by("-version")
    conditions = conditions.annotate(keeps_blind=Subquery(newest.values("blind_after_seeing")[:1]))
    if has_role(person, ADMINISTRATOR):
        return conditions.filter(keeps_blind=False)
    organized = Organizer.objects.filter(campaign=OuterRef("campaign"), person=person)
    return conditions.filter(Q(keeps_blind=False) | ~Exists(organized))


def _why_barred(person: Person, campaign: Campaign, is_administrator: bool) -> str:
    if is_administrator:
        return f"{person} is an administrator, who can see every record; an administrator isn't an assessor."
    return f"{person} organizes {campaign}, or did; an organizer isn't an assessor in the same campaign."


def why_not_blind(task: Task, record: Any) -> str | None:
    """Say why a task's person can't do it blind, or None; record: what was read with FACTS."""
    is_administrator = record.is_administrator or task.person.is_superuser
    if record.keeps_blind and (is_administrator or record.has_organized):
        return _why_barred(task.person, task.campaign, is_administrator)
    if record.has_feedback:
        return (
            "You have read the feedback on this practice topic, so you know what is said there: it is done. Go on with "
            "another one."
        )
    if record.has_decided:
        return (
            "You decide or decided between other people's labels on this topic, so you can't label it without knowing "
            "what they said. Tell your organizer, who can give the topic to somebody else."
        )
    if record.keeps_blind and record.has_seen and task.condition.is_blind():
        return (
            "You have seen what a language model gave on this topic for this kind of work, so you can't do it blind. "
            "Tell your organizer, who can give the topic to somebody else."
        )
    return None


def sees_grades(person: Person, topics: Iterable[Topic], condition: Condition) -> set[int]:
    """Return the ids of those topics on which a condition and other work of the person would spoil each other.

    The nugget editor shows grades. Who has or had nuggets of a topic to write does not grade it from scratch; who still
    grades it from scratch is not given its nuggets before that is done.
    """
    if not condition.campaign.protocol.blind_after_seeing:
        return set()
    tasks = Task.objects.filter(person=person, topic__in=list(topics))
    if condition.method == Condition.Method.MANUAL_RELEVANCE:
        tasks = tasks.filter(kind=Condition.Kind.NUGGETS)
    elif condition.kind == Condition.Kind.NUGGETS:
        tasks = tasks.filter(condition__method=Condition.Method.MANUAL_RELEVANCE, state=Task.State.OPEN)
    else:
        return set()
    return set(tasks.values_list("topic_id", flat=True))


def decides(person: Person, topics: Iterable[Topic], condition: Condition) -> set[int]:
    """Return the ids of those topics on which a condition and other work of the person would spoil each other.

    An adjudication shows what other people said, be it beside a model's labels. Who has or had one on a topic labels
    nothing else of that kind there; who still labels there is given none before that is done. The protocol has no say
    in this: its switch is about what models gave.
    """
    tasks = Task.objects.filter(person=person, kind=condition.kind, topic__in=list(topics))
    if condition.method == Condition.Method.ADJUDICATED:
        tasks = tasks.filter(state=Task.State.OPEN).exclude(condition__method=Condition.Method.ADJUDICATED)
    else:
        tasks = tasks.filter(condition__method=Condition.Method.ADJUDICATED)
    return set(tasks.values_list("topic_id", flat=True))


def has_seen(person: Person, topics: Iterable[Topic], condition: Condition) -> set[int]:
    """Return the ids of those topics that the person can't work on under the condition, having seen LLM output."""
    if not condition.is_blind() or not condition.campaign.protocol.blind_after_seeing:
        return set()
    seen = Exposure.objects.filter(person=person, kind=condition.kind, topic__in=list(topics))
    return set(seen.values_list("topic_id", flat=True))


def had_feedback(person: Person, topics: Iterable[Topic], condition: Condition) -> set[int]:
    """Return the ids of those topics for practice on whose labels of a condition's kind the person read the feedback.

    As with decides(), the protocol has no say in this.
    """
    told = Exposure.objects.filter(person=person, kind=condition.kind, topic__in=list(topics), where=FEEDBACK)
    return set(told.values_list("topic_id", flat=True))


def spoiled(person: Person, topics: Iterable[Topic], condition: Condition) -> set[int]:
    """Return the ids of those topics that the person has seen too much of to be given them under the condition."""
    topics = list(topics)
    ways = (has_seen, had_feedback, decides, sees_grades)
    return {topic for spoils in ways for topic in spoils(person, topics, condition)}
