"""Which languages people read, and which they would have to read for their work."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

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


def foreign_languages(people: Sequence[Person], campaign: Campaign) -> dict[int, set[str]]:
    """Return the languages that a campaign needs and people don't read, by person's key; only of who lacks one.

    None of somebody of whom it is not known what they read.
    """
    memberships = Membership.objects.filter(campaign=campaign, person__in=people, until=None).exclude(languages="")
    read = {person: codes.casefold().split() for person, codes in memberships.values_list("person", "languages")}
    needed = needed_languages(campaign) if read else []
    foreign = {person: {code for code in needed if code.casefold() not in codes} for person, codes in read.items()}
    return {person: codes for person, codes in foreign.items() if codes}


def unread_languages(
    foreign: Mapping[int, set[str]], topics: Sequence[Topic], condition: Condition
) -> dict[int, dict[int, set[str]]]:
    """Return the languages that people would have to read on topics and don't, by person's key and topic's.

    foreign: as foreign_languages() tells it of these people.
    """
    needed = _languages(condition, topics) if foreign else {}
    return {
        person: {topic: unread for topic, codes in needed.items() if (unread := codes & of_person)}
        for person, of_person in foreign.items()
    }


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
    foreign = foreign_languages([person], conditions[0].campaign) if conditions else {}
    for condition in conditions:
        unread = unread_languages(foreign, topics, condition).get(person.pk)
        if unread:
            codes = ", ".join(sorted(set().union(*unread.values())))
            named = ", ".join(sorted(topic.qid for topic in topics if topic.pk in unread))
            yield (
                f"{condition}: passages of {named} are in a language that {person} does not read, without a "
                f"translation ({codes})."
            )
