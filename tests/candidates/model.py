"""Sentences looked for in banks without a model: for tests that only look at the records."""

from assessor.campaigns.actions import create_condition
from assessor.campaigns.models import Answer, Campaign, Condition, Judge
from nuggets.candidates.condition_kind import AUTO, CANDIDATES
from nuggets.candidates.models import SentenceMatch
from nuggets.candidates.queries import finished_editions, open_places
from nuggets.models import BankEdition


def candidates_condition(nuggets: Condition, support: Condition, name: str) -> Condition:
    """Make a condition in which a model looks for supported sentences, without a job."""
    judge = Judge.objects.create(kind="model", name=f"judge of {name}")
    of = {"kind": CANDIDATES.name, "method": AUTO, "nuggets": nuggets, "support": support, "judge": judge}
    return create_condition(Condition(campaign=nuggets.campaign, name=name, **of), acting_user=None)


def look_for_all(campaign: Campaign, nuggets: str, support: str, name: str) -> Condition:
    """Keep that no sentence states a nugget, of all that nobody was asked about, by the conditions' names."""
    condition = campaign.conditions.filter(name=name).first()
    of = [campaign.conditions.get(name=one) for one in (nuggets, support)]
    condition = condition or candidates_condition(*of, name)
    topics = list(campaign.topics.all())
    editions = finished_editions(condition, topics)
    for topic, places in open_places(condition, topics).items():
        of_bank = {"condition": condition, "edition": editions[topic]}
        for answer, sentence in places:
            SentenceMatch.objects.create(**of_bank, answer_id=answer, sentence=sentence)
    return condition


def miss(edition: BankEdition, answer: Answer) -> SentenceMatch:
    """Keep that the first sentence of an answer states no nugget, under the bank's own condition."""
    return SentenceMatch.objects.create(condition=edition.bank.condition, edition=edition, answer=answer, sentence=0)
