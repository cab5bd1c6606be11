"""Judgments of relevance and their events in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from assessor.labels.admin import ConditionFilter, LabelEventAdmin
from assessor.relevance.models import LabelEvent, RelevanceJudgment


@admin.register(RelevanceJudgment)
class RelevanceJudgmentAdmin(LookOnly):
    list_display = (
        "docid",
        "topic",
        "condition",
        "state",
        "value",
        "shown_value",
        "judge",
        "holder",
        "held_until",
        "at",
    )
    list_filter = ("condition__campaign", "condition", "state", "value")
    search_fields = ("docid", "topic__qid", "judge__name")
    list_select_related = ("topic", "condition", "judge", "holder")


@admin.register(LabelEvent)
class RelevanceEventAdmin(LabelEventAdmin):
    list_display = (
        "judgment",
        "version",
        "verb",
        "value_before",
        "value",
        "shown_value",
        "judge",
        "job",
        "seconds",
        "at",
    )
    list_filter = (
        "verb",
        "value",
        ("judgment__condition__campaign", ConditionFilter),
        ("judgment__condition", ConditionFilter),
    )
    search_fields = ("judgment__docid", "judgment__topic__qid", "judge__name", "reason")
    list_select_related = ("judgment__topic", "judge", "job")
