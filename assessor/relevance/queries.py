"""What is to be graded, and what jobs and pages read of it."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from assessor.collection.models import Condition, Grade, Topic
from assessor.collection.queries import byte_order, pooled


def pool(condition: Condition, topics: Sequence[Topic]) -> "QuerySet[Any, tuple[int, str]]":
    """Return (topic's key, docid) of the segments pooled under the condition's protocol: each once, by docid's bytes.

    The condition may not be saved yet; then the protocol in force counts.
    """
    protocol = condition.protocol if condition.protocol_id else None
    found = pooled(condition.campaign, protocol).filter(topic__in=topics)
    return found.order_by("topic_id", byte_order("docid")).values_list("topic_id", "docid").distinct()


def ungraded(condition: Condition, topics: Sequence[Topic]) -> "QuerySet[Any, tuple[int, str]]":
    """Return those of the pool that have no grade of the condition's own yet."""
    if condition._state.adding:
        return pool(condition, topics)
    own = Grade.everything.filter(source__condition=condition, topic=OuterRef("topic"), docid=OuterRef("docid"))
    return pool(condition, topics).filter(~Exists(own))
