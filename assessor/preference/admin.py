"""Preferences and their events in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from assessor.labels.admin import ConditionFilter, LabelEventAdmin
from assessor.preference.models import LabelEvent, PreferencePair


@admin.register(PreferencePair)
class PreferencePairAdmin(LookOnly):
    list_display = (
        "topic",
        "position",
        "first_run",
        "second_run",
        "condition",
        "state",
        "value",
        "verdict",
        "reversed_verdict",
        "by_rule",
        "judge",
        "at",
    )
    list_filter = ("condition__campaign", "condition", "state", "value")
    search_fields = ("topic__qid", "first__run__tag", "second__run__tag")
    list_select_related = ("topic", "condition", "judge", "first__run", "second__run")

    @admin.display(description="first", ordering="first__run__tag")
    def first_run(self, pair: PreferencePair) -> str:
        return pair.first.run.tag

    @admin.display(description="second", ordering="second__run__tag")
    def second_run(self, pair: PreferencePair) -> str:
        return pair.second.run.tag


@admin.register(LabelEvent)
class PreferenceEventAdmin(LabelEventAdmin):
    list_display = (
        "pair",
        "version",
        "verb",
        "value_before",
        "value",
        "verdict",
        "reversed_verdict",
        "judge",
        "job",
        "at",
    )
    list_filter = (
        "verb",
        "value",
        ("pair__condition__campaign", ConditionFilter),
        ("pair__condition", ConditionFilter),
    )
    search_fields = ("pair__topic__qid", "judge__name", "reason")
    list_select_related = ("pair__topic", "judge", "job__condition")
