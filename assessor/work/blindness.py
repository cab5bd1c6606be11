"""Who may do blind work: nobody who has seen what a model gave there."""

from collections.abc import Iterable

from assessor.collection.models import Campaign, Condition, Organizer, Person, Topic
from assessor.collection.roles import ADMINISTRATOR, has_role
from assessor.work.models import Exposure, Task


def record_exposure(person: Person, topics: Iterable[Topic], kind: str, where: str) -> None:
    """Record that a person saw what a model gave on topics for a kind of work; `where` says on which screen."""
    Exposure.objects.bulk_create(Exposure(person=person, topic=topic, kind=kind, where=where) for topic in topics)


def barred_from(person: Person, campaign: Campaign) -> str | None:
    """Say why a person may not assess in a campaign at all, or None."""
    if not campaign.protocol.blind_after_seeing:
        return None
    if has_role(person, ADMINISTRATOR):
        return f"{person} is an administrator, who can see every record; an administrator isn't an assessor."
    # Former organizers too: what they saw, they have seen.
    if Organizer.objects.filter(campaign=campaign, person=person).exists():
        return f"{person} organizes {campaign}, or did; an organizer isn't an assessor in the same campaign."
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


def has_seen(person: Person, topics: Iterable[Topic], condition: Condition) -> set[int]:
    """Return the ids of those topics that the person can't work on under the condition, having seen LLM output."""
    if not condition.is_blind() or not condition.campaign.protocol.blind_after_seeing:
        return set()
    seen = Exposure.objects.filter(person=person, kind=condition.kind, topic__in=list(topics))
    return set(seen.values_list("topic_id", flat=True))
