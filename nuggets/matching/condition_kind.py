"""All that differs where the nuggets of two conditions are matched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from assessor.campaigns.condition_kind import UnassignedKind

if TYPE_CHECKING:
    from datetime import datetime

    from assessor.campaigns.models import Campaign, Condition
    from assessor.exportables import Chosen
    from assessor.labels.cutoff import Cell

MANUAL, AUTO = "ManualMatch", "AutoMatch"


class Matching(UnassignedKind):
    """Banks of the same topics, side by side: which nuggets of the one say what nuggets of the other say.

    Organizers match, as both banks show them what others or a model gave: no assessor is given such work.
    """

    name = "matching"
    title = "Matched banks"
    instruction = "Say which nuggets of two banks say the same."
    counted = "topics"
    done = "matched"
    methods = (MANUAL, AUTO)
    builds_on = ("nuggets", "questions")
    matches_banks = True
    results = ("See the banks side by side", "matched_banks")

    def in_words(self, condition: Condition) -> str:
        return f"Nuggets of {condition.nuggets} matched with those of {condition.other_nuggets} by {condition.maker}"

    def conditions(self, campaign: Campaign) -> QuerySet[Any]:
        """Return its conditions, with how many topics have both banks, and how many of these are matched."""
        from nuggets.matching.queries import matched_counts

        return matched_counts(super().conditions(campaign))

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        """A topic is in if it was matched by then."""
        from assessor.exportables import of_chosen
        from assessor.labels.cutoff import Cell
        from nuggets.matching.models import BankMatching

        matchings = of_chosen(chosen, BankMatching.objects.filter(condition=chosen.record, number=1))
        for qid, made in matchings.values_list("topic__qid", "at").order_by("topic__qid"):
            yield Cell(qid, "", 1, int(made <= at), int(made > at))

    def missing(self, condition: Condition) -> Iterator[str]:
        from nuggets.matching.queries import unmatched

        for topic in unmatched(condition, condition.campaign.topics.filter(is_practice=False).order_by("qid")):
            yield f"{topic.qid}: the banks are not matched as they are now."

    def has_work(self) -> Q:
        from nuggets.matching.models import BankMatching

        return Q(Exists(BankMatching.objects.filter(topic=OuterRef("pk"))))

    def records(self, condition: Condition) -> QuerySet[Any]:
        from nuggets.matching.models import BankMatching

        return BankMatching.objects.filter(condition=condition)


MATCHING = Matching()
