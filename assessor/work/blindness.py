"""Who may be given blind work: nobody who has seen what a model gave there, or what other people said of it."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import condition_kinds, kind_of, names_of_nuggets
from assessor.campaigns.models import Campaign, Condition, Membership, Protocol, Role, Topic
from assessor.work.access import has_administered, why_barred
from assessor.work.models import Exposure, Task

# Where people see what others said on a topic for practice, once they have signed it off.
FEEDBACK = "feedback on practice"


def record_exposure(person: Person, topics: Iterable[Topic], kind: str, where: str) -> None:
    """Record that a person saw what a model gave on topics for a kind of work, or what they decide between.

    where: on which screen.
    """
    Exposure.objects.bulk_create(Exposure(person=person, topic=topic, kind=kind, where=where) for topic in topics)


def barred_from(person: Person, campaign: Campaign) -> str | None:
    """Say why a person may not assess in a campaign at all, or None."""
    if not campaign.protocol.blind_after_seeing:
        return None
    if has_administered(person, campaign) or _organizing(person, campaign).exists():
        return why_barred(person, campaign)
    return None


def not_barred(person: Person, conditions: QuerySet[Condition]) -> QuerySet[Condition]:
    """Return those of the conditions in whose campaigns a person may assess: for whom barred_from() says nothing."""
    newest = Protocol.objects.filter(campaign=OuterRef("campaign")).order_by("-version")
    conditions = conditions.annotate(keeps_blind=Subquery(newest.values("blind_after_seeing")[:1]))
    if person.is_superuser:
        return conditions.filter(keeps_blind=False)
    barred = Q(Exists(_organizing(person, OuterRef("campaign"))))
    if person.administrator_until:
        barred |= Q(campaign__created_at__lt=person.administrator_until)
    return conditions.filter(Q(keeps_blind=False) | ~barred)


def _organizing(person: Person, campaign: Campaign | OuterRef) -> QuerySet[Membership]:
    """Return when a person organizes a campaign, or did: what former organizers saw, they have seen."""
    return Membership.objects.filter(campaign=campaign, person=person, role=Role.ORGANIZER)


def sees_grades(person: Person, topics: Iterable[Topic], condition: Condition) -> set[int]:
    """Return the ids of those topics on which a condition and other work of the person would spoil each other.

    The nugget editor shows grades. Who has or had nuggets of a topic to write does not grade it from scratch; who still
    grades it from scratch is not given its nuggets before that is done.
    """
    if not condition.campaign.protocol.blind_after_seeing:
        return set()
    tasks = Task.objects.filter(person=person, topic__in=list(topics))
    kind = kind_of(condition)
    if kind.makes_grades and condition.is_blind():
        tasks = tasks.filter(kind__in=names_of_nuggets())
    elif kind.makes_nuggets:
        from_scratch = [one.blind_method for one in condition_kinds() if one.makes_grades]
        tasks = tasks.filter(condition__method__in=from_scratch, state=Task.State.OPEN)
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
    if condition.method == Condition.ADJUDICATED:
        tasks = tasks.filter(state=Task.State.OPEN).exclude(condition__method=Condition.ADJUDICATED)
    else:
        tasks = tasks.filter(condition__method=Condition.ADJUDICATED)
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
