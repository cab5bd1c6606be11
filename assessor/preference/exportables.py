"""What can be exported of preferences."""

from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition
from assessor.exportables import (
    CSV,
    JSONL,
    Chosen,
    Exportable,
    Order,
    always,
    of_chosen,
    of_conditions,
    only_of,
    topics_of,
)
from assessor.preference.exports import preference_lines, strength_lines
from assessor.preference.label_kind import PREFERENCE
from assessor.preference.models import PreferencePair
from assessor.work.exposure import Seen


def _compared(campaign: Campaign) -> QuerySet[Condition]:
    return PREFERENCE.conditions(campaign).select_related("protocol").order_by("name")


def _pairs(chosen: Chosen) -> QuerySet[PreferencePair]:
    return of_chosen(chosen, PreferencePair.objects.filter(condition=chosen.record))


def _seen(chosen: Chosen) -> Seen:
    yield chosen.record, topics_of(_pairs(chosen), "topic")


EXPORTABLES = (
    Exportable(
        "preferences",
        "Preferences",
        JSONL,
        lambda it: preference_lines(it.record, it.topics),
        lambda it: _pairs(it).count(),
        Order.LABELS,
        of_conditions("preference condition", _compared),
        filters=("topics",),
        of_labels=always,
        shows=_seen,
        remark=lambda condition: f"by {condition.maker}",
        frozen=only_of(PREFERENCE.name),
        freezes=("jsonl",),
        releases=("jsonl",),
    ),
    Exportable(
        "strengths",
        "Strengths of runs by preferences (Bradley-Terry)",
        CSV,
        lambda it: strength_lines(it.record),
        lambda it: it.campaign.runs.count(),
        Order.SCORES,
        of_conditions("preference condition", _compared),
        frozen=only_of(PREFERENCE.name),
        freezes=("csv",),
        releases=("csv",),
    ),
)
