"""Matched banks without an organizer or a model: for tests that only look at the records."""

from assessor.campaigns.models import Campaign, Condition
from nuggets.matching.actions import create_manual_matching
from nuggets.matching.models import BankMatching, NuggetMatch
from nuggets.matching.queries import banks_to_match
from nuggets.models import BankEdition


def match_with_itself(edition: BankEdition) -> NuggetMatch:
    """Keep that the first nugget of a bank says the same as itself, under the bank's own condition."""
    bank, nugget = edition.bank, edition.bank.nuggets.earliest("pk")
    of = {"condition": bank.condition, "topic": bank.topic, "judge": bank.maker}
    matching = BankMatching.objects.create(**of, number=1, first=edition, second=edition)
    return NuggetMatch.objects.create(matching=matching, first=nugget, second=nugget)


def match_all(campaign: Campaign, first: str, second: str, name: str) -> Condition:
    """Match the first nuggets of two conditions, by name, on all topics that have both banks."""
    sides = {"nuggets": campaign.conditions.get(name=first), "other_nuggets": campaign.conditions.get(name=second)}
    condition = campaign.conditions.filter(name=name).first()
    condition = condition or create_manual_matching(campaign=campaign, **sides, name=name, acting_user=None)
    for topic, banks in banks_to_match(condition, campaign.topics.all()).items():
        of = {"topic_id": topic, "judge": banks.first.bank.maker, "first": banks.first, "second": banks.second}
        number = condition.matchings.filter(topic=topic).count() + 1
        matching = BankMatching.objects.create(condition=condition, number=number, **of)
        keys = {"first_id": banks.first.nuggets[0]["id"], "second_id": banks.second.nuggets[0]["id"]}
        NuggetMatch.objects.create(matching=matching, **keys)
    return condition
