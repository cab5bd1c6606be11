"""What can be exported of support judgments."""

from django.db.models import QuerySet

from assessor.exportables import (
    CSV,
    JSONL,
    Chosen,
    Exportable,
    Order,
    always,
    judged_answers,
    of_chosen,
    of_conditions,
    only_of,
    topics_of,
)
from assessor.work.exposure import Seen
from support.exports import support_lines
from support.judgments_table import judgment_lines
from support.models import LabelEvent, SupportSheet
from support.queries import supporting


def _sheets(chosen: Chosen) -> QuerySet[SupportSheet]:
    return judged_answers(chosen, SupportSheet)


def _events(chosen: Chosen) -> QuerySet[LabelEvent]:
    events = LabelEvent.objects.filter(sheet__condition=chosen.record)
    return of_chosen(chosen, events, "sheet__answer__topic", "sheet__answer__run")


def _seen(chosen: Chosen) -> Seen:
    yield chosen.record, topics_of(_sheets(chosen), "answer__topic")


def _shown_seen(chosen: Chosen) -> Seen:
    for condition in filter(None, (chosen.record, chosen.record.shown)):
        yield condition, topics_of(_sheets(chosen), "answer__topic")


EXPORTABLES = (
    Exportable(
        "support",
        "Support judgments",
        JSONL,
        lambda it: support_lines(it.record, it.topics, it.runs),
        lambda it: _sheets(it).count(),
        Order.LABELS,
        of_conditions("support condition", supporting),
        filters=("topics", "runs"),
        of_labels=always,
        shows=_seen,
        frozen=only_of("support"),
        in_admin="support judgments",
        freezes=("jsonl",),
        releases=("jsonl",),
    ),
    Exportable(
        "support_judgments",
        "Who judged support how, and which label was shown",
        CSV,
        lambda it: judgment_lines(it.record, it.topics, it.runs),
        lambda it: _events(it).count(),
        Order.WHO_JUDGED,
        of_conditions("support condition", lambda campaign: supporting(campaign).filter(judge=None)),
        stem="support",
        label="Support record (who, when, what was shown)",
        filters=("topics", "runs"),
        of_labels=always,
        shows=_shown_seen,
        frozen=lambda condition: condition if condition.kind == "support" and condition.is_by_people else None,
        freezes=("csv",),
        releases=("csv",),
    ),
)
