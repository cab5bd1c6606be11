"""What the API lists of judgments of reports."""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet

from assessor.campaigns.models import Condition, Run, Topic
from assessor.exportables import topics_of
from assessor.labels.api import ApiList, Json, LineSchema, Rows
from assignment.argue.exports import judgment_records
from assignment.argue.models import ArgueSheet


class JudgedReport(LineSchema):
    """A report with its judgments, sentence by sentence: a line of AUTO-ARGUE's judgments."""

    report: Json
    judgments: list[Any]


def _rows(condition: Condition, topics: Collection[Topic], runs: Collection[Run] | None) -> Rows:
    for qid, tag, record in judgment_records(condition, topics, runs):
        yield (qid, tag), record


def _topics(condition: Condition, topics: Collection[Topic], runs: Collection[Run] | None) -> QuerySet[Topic]:
    found = ArgueSheet.objects.filter(condition=condition, answer__topic__in=topics)
    return topics_of(found if runs is None else found.filter(answer__run__in=runs), "answer__topic")


ARGUE_LIST = ApiList(
    name="argue_judgments",
    about="The judgments of reports under a condition, sentence by sentence, by topic id and run's tag.",
    schema=JudgedReport,
    has_runs=True,
    key=(str, str),
    rows=_rows,
    topics=_topics,
)
