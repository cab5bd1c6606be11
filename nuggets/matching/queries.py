"""The banks that are matched, and how."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from assessor.campaigns.models import Condition, Topic
from nuggets.matching.models import BankMatching
from nuggets.models import BankEdition, NuggetBank
from nuggets.queries import banks_by_topic, present_editions

Pairs = set[tuple[int, int]]


class TopicBanks(NamedTuple):
    """Two banks of a topic as they were last finished, with the keys of their nuggets as "id"."""

    first: BankEdition
    second: BankEdition

    def are_of(self, matching: BankMatching) -> bool:
        """Say whether they are as they were when somebody matched them."""
        return (matching.first_id, matching.second_id) == (self.first.pk, self.second.pk)


def banks_to_match(condition: Condition, topics: Iterable[Topic]) -> dict[int, TopicBanks]:
    """Return the banks of each topic that has both, by key, in a constant number of queries."""
    topics = list(topics)
    if condition.nuggets is None or condition.other_nuggets is None:
        return {}
    first, second = (banks_by_topic(one, topics) for one in (condition.nuggets, condition.other_nuggets))
    editions = present_editions([*first.values(), *second.values()])

    def edition(bank: NuggetBank) -> BankEdition:
        editions[bank.pk].bank = bank
        return editions[bank.pk]

    return {topic: TopicBanks(edition(first[topic]), edition(second[topic])) for topic in first if topic in second}


def newest_matchings(condition: Condition) -> dict[int, BankMatching]:
    """Return the matching of each topic that counts, by topic's key."""
    if not condition.pk:
        return {}
    found = BankMatching.objects.filter(condition=condition).select_related("judge").order_by("number")
    return {one.topic_id: one for one in found}


def matched_counts(conditions: QuerySet[Any]) -> QuerySet[Any]:
    """Add how many topics have both banks, as "both", and how many of these are matched, if not outdated, "matched"."""
    finished = NuggetBank.objects.filter(state=NuggetBank.State.FINISHED, topic__is_practice=False)
    in_other = finished.filter(condition=OuterRef(OuterRef("other_nuggets")), topic=OuterRef("topic"))
    both = finished.filter(Exists(in_other), condition=OuterRef("nuggets")).order_by().values("condition")
    now = {f"{side}__edition": F(f"{side}__bank__edition") for side in ("first", "second")}
    matched = BankMatching.objects.filter(condition=OuterRef("pk"), **now).order_by().values("condition")

    def count(rows: QuerySet[Any]) -> Coalesce:
        return Coalesce(Subquery(rows.annotate(topics=Count("topic", distinct=True)).values("topics")), 0)

    counted: QuerySet[Any] = conditions.annotate(both=count(both), matched=count(matched))
    return counted


def unmatched(condition: Condition, topics: Iterable[Topic]) -> list[Topic]:
    """Return those of the topics, in order, whose banks are not matched as they are now."""
    topics = list(topics)
    banks, matchings = banks_to_match(condition, topics), newest_matchings(condition)
    return [
        topic
        for topic in topics
        if topic.pk in banks and not (topic.pk in matchings and banks[topic.pk].are_of(matchings[topic.pk]))
    ]


def pairs_of(matchings: Iterable[BankMatching], banks: dict[int, TopicBanks]) -> dict[int, Pairs]:
    """Return the places of the nuggets that matchings pair, from 0, by topic's key. banks: as they are now.

    What is in a bank no more has no place.
    """
    by_key = {one.pk: one for one in matchings}
    found: dict[int, Pairs] = {one.topic_id: set() for one in by_key.values()}
    places = {
        topic: tuple({nugget["id"]: at for at, nugget in enumerate(edition.nuggets)} for edition in banks[topic])
        for topic in found
    }
    rows = BankMatching.objects.filter(pk__in=by_key).exclude(matches=None).order_by()
    for key, first, second in rows.values_list("pk", "matches__first", "matches__second"):
        topic = by_key[key].topic_id
        of_first, of_second = places[topic]
        if first in of_first and second in of_second:
            found[topic].add((of_first[first], of_second[second]))
    return found
