"""The rows that a file is made of, to be counted, and whose output they show."""

from typing import Any

from django.db.models import QuerySet

from assessor.collection.models import Answer, Grade, QrelsSource, Topic
from assessor.exports.chosen import Chosen
from assessor.relevance.models import LabelEvent as RelevanceEvent
from assessor.work.exposing import Seen
from assignment.models import AnswerSheet
from nuggets.queries import finished_banks
from support.models import LabelEvent, SupportSheet


def of(chosen: Chosen, rows: QuerySet[Any], topic: str = "topic", run: str = "") -> QuerySet[Any]:
    """Return those of the rows that are of the chosen topics and runs."""
    if chosen.topics is not None:
        rows = rows.filter(**{f"{topic}__in": [one.pk for one in chosen.topics]})
    if run and chosen.runs is not None:
        rows = rows.filter(**{f"{run}__in": [one.pk for one in chosen.runs]})
    return rows


def _topics(rows: QuerySet[Any], path: str) -> QuerySet[Topic]:
    topics: QuerySet[Topic] = Topic.objects.filter(pk__in=rows.order_by().values(path))
    return topics


def grades(chosen: Chosen) -> QuerySet[Grade]:
    return of(chosen, Grade.with_unjudged.filter(source=chosen.record))


def banks(chosen: Chosen) -> QuerySet[Any]:
    return of(chosen, finished_banks(chosen.record))


def answer_sheets(chosen: Chosen) -> QuerySet[AnswerSheet]:
    return of(chosen, AnswerSheet.objects.filter(condition=chosen.record), "answer__topic", "answer__run")


def support_sheets(chosen: Chosen) -> QuerySet[SupportSheet]:
    return of(chosen, SupportSheet.objects.filter(condition=chosen.record), "answer__topic", "answer__run")


def scored(chosen: Chosen) -> int:
    """Count the runs of a table, or the answers where each has a line."""
    if chosen.form in ("csv", "latex"):
        return int(chosen.campaign.runs.count())
    return Answer.objects.filter(run__campaign=chosen.campaign).count()


def planned(chosen: Chosen) -> int:
    """Count the cells of a cut-off report."""
    return max(answer_sheets(chosen).count(), support_sheets(chosen).count(), chosen.campaign.topics.count())


def relevance_events(chosen: Chosen) -> QuerySet[RelevanceEvent]:
    return of(chosen, RelevanceEvent.objects.filter(judgment__condition=chosen.record), "judgment__topic")


def support_events(chosen: Chosen) -> QuerySet[LabelEvent]:
    told = LabelEvent.objects.filter(sheet__condition=chosen.record)
    return of(chosen, told, "sheet__answer__topic", "sheet__answer__run")


def grades_seen(chosen: Chosen) -> Seen:
    if chosen.record.by == QrelsSource.By.MODEL:
        yield chosen.record, _topics(grades(chosen), "topic")


def nuggets_seen(chosen: Chosen) -> Seen:
    yield chosen.record, _topics(banks(chosen), "topic")


def assignments_seen(chosen: Chosen) -> Seen:
    yield chosen.record, _topics(answer_sheets(chosen), "answer__topic")


def support_seen(chosen: Chosen) -> Seen:
    yield chosen.record, _topics(support_sheets(chosen), "answer__topic")


def shown_support_seen(chosen: Chosen) -> Seen:
    for condition in filter(None, (chosen.record, chosen.record.shown)):
        yield condition, _topics(support_sheets(chosen), "answer__topic")


def shown_grades_seen(chosen: Chosen) -> Seen:
    source = chosen.record.qrels_source
    for seen in (chosen.record, *([source] if source and source.by == QrelsSource.By.MODEL else [])):
        yield seen, _topics(relevance_events(chosen), "judgment__topic")
