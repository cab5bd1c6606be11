"""What somebody sees of a model's by reading a list."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Topic

_OF_TOPIC = ("qid", "topic_id", "query_id")  # what the field's forms call it


class Seen(NamedTuple):
    """What is seen by a list. topics: all that it is of; note: records that what it has on some is seen."""

    campaign: Campaign
    topics: QuerySet[Topic]
    note: Callable[[QuerySet[Topic]], None]

    def of(self, items: list[dict[str, Any]]) -> None:
        """Record that these items of it are seen."""
        if items:
            qids = {str(next(item[key] for key in _OF_TOPIC if key in item)) for item in items}
            self.note(self.campaign.topics.filter(qid__in=qids))

    def all(self) -> None:
        """Record that the whole list is seen."""
        self.note(self.topics)


def topics_of(rows: QuerySet[Any], path: str = "topic") -> QuerySet[Topic]:
    """Return the topics that rows are about. path: from a row to its topic."""
    topics: QuerySet[Topic] = Topic.objects.filter(pk__in=rows.order_by().values(path))
    return topics
