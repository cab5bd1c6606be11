"""What somebody sees of a model's by reading a list."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Topic
from assessor.labels.api import Json, Key


class Seen(NamedTuple):
    """What is seen by a list. topics: all that it is of; note: records that what it has on some is seen.

    qid_of: returns the topic id of an item, by its key and what is listed.
    """

    campaign: Campaign
    topics: QuerySet[Topic]
    note: Callable[[QuerySet[Topic]], None]
    qid_of: Callable[[Key, Json], str]

    def of(self, page: Sequence[tuple[Key, Json]]) -> None:
        """Record that these items of it are seen."""
        if page:
            self.note(self.campaign.topics.filter(qid__in={self.qid_of(key, item) for key, item in page}))

    def all(self) -> None:
        """Record that the whole list is seen."""
        self.note(self.topics)


def topics_of(rows: QuerySet[Any], path: str = "topic") -> QuerySet[Topic]:
    """Return the topics that rows are about. path: from a row to its topic."""
    topics: QuerySet[Topic] = Topic.objects.filter(pk__in=rows.order_by().values(path))
    return topics
