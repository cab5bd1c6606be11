"""What the API lists of preferences."""

from collections.abc import Collection
from itertools import groupby
from typing import Any

from django.db.models import QuerySet

from assessor.campaigns.models import Condition, Run, Topic
from assessor.exportables import topics_of
from assessor.labels.api import ApiList, LineSchema, Rows
from assessor.preference.exports import preference_records
from assessor.preference.models import PreferencePair


class PreferenceLine(LineSchema):
    """A comparison of two answers, or what those of a topic come to for a run: a line of the field's files."""

    run_id: str
    run_id2: Any = None
    query_id: Any = None
    topic_id: Any = None
    better_passage: Any = None
    borda_score: Any = None
    win_frac: Any = None


def _rows(condition: Condition, topics: Collection[Topic], runs: Collection[Run] | None) -> Rows:
    """Yield lines; those of a topic are told apart by their number, from 0."""
    for qid, of_topic in groupby(preference_records(condition, topics), lambda one: one[0]):
        for number, (_, item) in enumerate(of_topic):
            yield (qid, number), item


def _topics(condition: Condition, topics: Collection[Topic], runs: Collection[Run] | None) -> QuerySet[Topic]:
    return topics_of(PreferencePair.objects.filter(condition=condition, topic__in=topics), "topic")


PREFERENCE_LIST = ApiList(
    name="preferences",
    about="The preferences between two answers under a condition, by topic id, and what they come to for each run.",
    schema=PreferenceLine,
    has_runs=False,
    key=(str, int),
    rows=_rows,
    topics=_topics,
)
