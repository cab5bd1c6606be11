"""Which languages people read, and which they would have to read for their work."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from django.db.models import Q

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition, Membership, Topic
from assessor.campaigns.queries import among, in_chunks

_NEEDS_READER = ~Q(language="") & Q(has_translation=False)


def needed_languages(campaign: Campaign) -> list[str]:
    """Return the languages that people need to read a campaign's passages: what is translated needs none."""
    needed = campaign.segments.filter(_NEEDS_READER).order_by("language")
    return list(needed.values_list("language", flat=True).distinct())


def unread_languages(
    people: Sequence[Person], topics: Sequence[Topic], condition: Condition
) -> dict[int, dict[int, set[str]]]:
    """Return the languages that people would have to read on topics and don't, by person's key and topic's.

    None of somebody of whom it is not known what they read.
    """
    campaign = condition.campaign
    memberships = Membership.objects.filter(campaign=campaign, person__in=people, until=None).exclude(languages="")
    needed = needed_languages(campaign)
    foreign = {
        person: {code for code in needed if code.casefold() not in codes.casefold().split()}
        for person, codes in memberships.values_list("person", "languages")
    }
    found: dict[int, dict[int, set[str]]] = {person: {} for person, codes in foreign.items() if codes}
    for topic, codes in _languages(condition, topics).items() if found else ():
        for person, of_person in found.items():
            if unread := codes & foreign[person]:
                of_person[topic] = unread
    return found


def _languages(condition: Condition, topics: Sequence[Topic]) -> dict[int, set[str]]:
    """Return the languages that are needed to read what a screen shows on topics, by topic's key."""
    shown: dict[str, set[int]] = defaultdict(set)
    for topic, docid in kind_of(condition).shown_passages(condition, topics):
        shown[docid].add(topic)
    found: dict[int, set[str]] = defaultdict(set)
    for some in in_chunks(sorted(shown)):
        segments = condition.campaign.segments.filter(_NEEDS_READER, docid__in=among(some)).order_by()
        for docid, language in segments.values_list("docid", "language"):
            for topic in shown[docid]:
                found[topic].add(language)
    return found


def unread_in_words(person: Person, topics: Sequence[Topic], conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield a sentence for each condition under which a person can't read all that topics bring."""
    for condition in conditions:
        unread = unread_languages([person], topics, condition).get(person.pk)
        if unread:
            codes = ", ".join(sorted(set().union(*unread.values())))
            named = ", ".join(sorted(topic.qid for topic in topics if topic.pk in unread))
            yield (
                f"{condition}: passages of {named} are in a language that {person} does not read, without a "
                f"translation ({codes})."
            )
