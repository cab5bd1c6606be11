"""The supported sentences of answers, and which nuggets of the topics' banks they state."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db.models import QuerySet

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Answer, Campaign, Condition, Sentence, Topic
from nuggets.candidates.condition_kind import CANDIDATES
from nuggets.candidates.models import SentenceMatch
from nuggets.drafting import in_batches
from nuggets.models import BankEdition
from nuggets.queries import banks_by_topic, present_editions

_AT_A_TIME = 2_000
# An answer's key, and the place of a sentence in it, from 0.
Place = tuple[int, int]


def candidate_conditions(campaign: Campaign) -> QuerySet[Condition]:
    """Return a campaign's conditions under which candidates are looked for, by name."""
    found = campaign.conditions.filter(kind=CANDIDATES.name)
    return found.select_related(*Condition.TOLD_WITH, "nuggets__protocol", "campaign", "protocol").order_by("name")


def finished_editions(condition: Condition, topics: Iterable[Topic]) -> dict[int, BankEdition]:
    """Return the bank of each topic that has one as it was last finished, by topic's key."""
    if condition.nuggets is None:
        return {}
    banks = banks_by_topic(condition.nuggets, topics)
    editions = present_editions(banks.values())
    return {topic: editions[bank.pk] for topic, bank in banks.items()}


def supported(condition: Condition, topics: Sequence[Topic]) -> dict[int, list[Place]]:
    """Return the supported sentences of systems' own answers, in order, by topic's key."""
    support = condition.support
    return dict(kind_of(support).supported_sentences(support, topics)) if support else {}


def stated_nuggets(condition: Condition, editions: Iterable[BankEdition]) -> dict[Place, list[int]]:
    """Return the keys of the nuggets that each sentence states which was asked about, of these editions."""
    found: dict[Place, list[int]] = {}
    if condition.pk:
        rows = SentenceMatch.objects.filter(condition=condition, edition__in=list(editions)).order_by("pk")
        for answer, sentence, nugget in rows.values_list("answer", "sentence", "nugget"):
            found.setdefault((answer, sentence), []).extend([nugget] if nugget else [])
    return found


def open_places(condition: Condition, topics: Sequence[Topic]) -> dict[int, list[Place]]:
    """Return the supported sentences that nobody was asked about with the banks as they are, by topic's key."""
    editions = finished_editions(condition, topics)
    known = stated_nuggets(condition, editions.values())
    sentences = supported(condition, topics)
    found = {topic: [one for one in sentences.get(topic, ()) if one not in known] for topic in editions}
    return {topic: places for topic, places in found.items() if places}


def open_sentences(condition: Condition, topics: Sequence[Topic]) -> dict[int, dict[str, list[Place]]]:
    """Return open_places(), those of a topic with equal texts together: the model is asked about one of them."""
    places = open_places(condition, topics)
    texts = texts_of(one for some in places.values() for one in some)
    found: dict[int, dict[str, list[Place]]] = {}
    for topic, some in places.items():
        groups = defaultdict(list)
        for place in some:
            groups[texts[place]].append(place)
        found[topic] = dict(groups)
    return found


def sentences_at(places: Iterable[Place]) -> dict[Place, Sentence]:
    """Return the sentences of answers at some places."""
    wanted: dict[int, list[int]] = defaultdict(list)
    for answer, sentence in places:
        wanted[answer].append(sentence)
    found: dict[Place, Sentence] = {}
    for some in in_batches(sorted(wanted), _AT_A_TIME):
        for answer in Answer.objects.filter(pk__in=some).only("form", "references", "content"):
            sentences = list(answer.sentences())
            found |= {(answer.pk, at): sentences[at] for at in wanted[answer.pk]}
    return found


def text_of(sentence: Sentence) -> str:
    """Return the text of a sentence, its blanks folded."""
    return " ".join(sentence.text.split())


def texts_of(places: Iterable[Place]) -> dict[Place, str]:
    """Return the texts of the sentences at some places."""
    return {place: text_of(sentence) for place, sentence in sentences_at(places).items()}
