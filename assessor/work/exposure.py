"""What a person has seen who takes away what stands under a condition, or grades, as a file or by the API."""

from collections.abc import Iterable, Iterator

from django.db.models import Exists, OuterRef, QuerySet

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_of, names_of_grades
from assessor.campaigns.models import Campaign, Condition, QrelsSource, Topic
from assessor.runtime.replica import on_primary
from assessor.work.blindness import record_exposure
from assessor.work.models import Exposure

# Conditions or sources of grades, each with the topics on which what it gave is seen.
Seen = Iterator[tuple[Condition | QrelsSource, QuerySet[Topic]]]


def take_away(person: Person, condition: Condition, topics: QuerySet[Topic], where: str) -> None:
    """Record that a person takes away what stands under a condition on topics: once for each place where they do.

    Labels that are a model's, and nuggets that are or may be: those of the condition, or those that its labels are of.
    """
    _record(person, topics, _kinds([condition]), where)


def take_grades(person: Person, source: QrelsSource, topics: QuerySet[Topic], where: str) -> None:
    """Record that a person takes away a source's grades on topics, if a model gave them."""
    if source.by == QrelsSource.By.MODEL:
        _record(person, topics, names_of_grades(), where)


def take_file(person: Person, seen: Iterable[tuple[Condition | QrelsSource, QuerySet[Topic]]]) -> None:
    """Record that a person takes away a file that shows, or is counted from, what stands there on topics."""
    for what, topics in seen:
        where = f"export of {what}"[:200]
        if isinstance(what, QrelsSource):
            take_grades(person, what, topics, where)
        else:
            take_away(person, what, topics, where)


def take_all(person: Person, campaign: Campaign, where: str) -> None:
    """Record that a person takes away a whole campaign: what models gave for any kind of work, on all its topics."""
    conditions = campaign.conditions.select_related(*Condition.TOLD_WITH)
    kinds = _kinds(conditions)
    if campaign.qrels_sources.filter(by=QrelsSource.By.MODEL).exists():
        kinds.update(names_of_grades())
    _record(person, campaign.topics.all(), kinds, where)


def see(person: Person, topic: Topic, kinds: Iterable[str], where: str) -> None:
    """Record that a person sees on a page what models gave for kinds of work on a topic."""
    _record(person, Topic.objects.filter(pk=topic.pk), kinds, where)


def _kinds(conditions: Iterable[Condition]) -> set[str]:
    """Return the kinds of work for which what stands under conditions is a model's, or may be."""
    conditions = list(conditions)
    kinds = {kind for one in conditions if one.is_a_models for kind in kind_of(one).exposed_kinds(one)}
    creations = {condition.nuggets or condition for condition in conditions}
    # Those of people's files come last: only they take a statement to tell.
    for one in sorted(creations, key=lambda creation: creation.is_peoples):
        if one.kind not in kinds and kind_of(one).makes_nuggets and one.shows_a_models_nuggets():
            kinds.add(one.kind)
    return kinds


def _record(person: Person, topics: QuerySet[Topic], kinds: Iterable[str], where: str) -> None:
    with on_primary():
        for kind in sorted(kinds):
            known = Exposure.objects.filter(person=person, topic=OuterRef("pk"), kind=kind, where=where)
            record_exposure(person, topics.filter(~Exists(known)), kind, where)
