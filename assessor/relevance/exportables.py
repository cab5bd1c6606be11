"""What can be exported of grades that are given here; the grades themselves are their source's."""

from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition, QrelsSource
from assessor.exportables import CSV, Chosen, Exportable, Order, always, of_chosen, of_conditions, only_of, topics_of
from assessor.relevance.exports import judgment_lines
from assessor.relevance.models import LabelEvent
from assessor.work.exposure import Seen


def _grading(campaign: Campaign) -> QuerySet[Condition]:
    told = (*Condition.TOLD_WITH, "protocol")
    return campaign.conditions.filter(kind="relevance").select_related(*told).order_by("name")


def _events(chosen: Chosen) -> QuerySet[LabelEvent]:
    return of_chosen(chosen, LabelEvent.objects.filter(judgment__condition=chosen.record), "judgment__topic")


def _shown_seen(chosen: Chosen) -> Seen:
    source = chosen.record.qrels_source
    for seen in (chosen.record, *([source] if source and source.by == QrelsSource.By.MODEL else [])):
        yield seen, topics_of(_events(chosen), "judgment__topic")


EXPORTABLES = (
    Exportable(
        "judgments",
        "Grading record (who, when, what was shown)",
        CSV,
        lambda it: judgment_lines(it.record, it.topics),
        lambda it: _events(it).count(),
        Order.WHO_GRADED,
        of_conditions("relevance condition", _grading),
        label="Grading record (who, when, what was shown)",
        filters=("topics",),
        of_labels=always,
        shows=_shown_seen,
        frozen=only_of("relevance"),
        freezes=("csv",),
        releases=("csv",),
    ),
)
