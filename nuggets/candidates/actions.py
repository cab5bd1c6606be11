"""The writers of what sentences state."""

from collections.abc import Sequence
from typing import NamedTuple

from assessor.campaigns.models import Topic
from assessor.llm.models import Job
from nuggets.candidates.models import SentenceMatch
from nuggets.candidates.queries import Place, open_sentences


class Stated(NamedTuple):
    """What a model said of a sentence: the keys of the nuggets that it states, of a bank as it was finished."""

    edition: int
    nuggets: list[int]


def store_matches(job: Job, found: Sequence[tuple[Topic, Place, Stated]]) -> None:
    """Write what a model said of sentences, and so of all open ones of the topic with the same text.

    What is supported no longer, or was written meanwhile, has nothing written.
    """
    groups = open_sentences(job.condition, list({topic for topic, _, _ in found}))
    equal = {place: group for of_topic in groups.values() for group in of_topic.values() for place in group}
    SentenceMatch.objects.bulk_create(
        [
            SentenceMatch(
                condition=job.condition,
                edition_id=stated.edition,
                answer_id=answer,
                sentence=sentence,
                nugget_id=nugget,
                job=job,
            )
            for _, place, stated in found
            for answer, sentence in equal.get(place, ())
            for nugget in (*stated.nuggets,) or (None,)
        ]
    )
