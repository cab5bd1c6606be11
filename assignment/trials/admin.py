"""Trials of nuggets in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from assignment.trials.models import NuggetTrial, TrialLabel, TrialSetting


@admin.register(TrialSetting)
class TrialSettingAdmin(LookOnly):
    list_display = ("condition", "is_on", "most_calls")
    list_filter = ("condition__campaign",)
    search_fields = ("condition__name",)
    list_select_related = ("condition",)


@admin.register(NuggetTrial)
class NuggetTrialAdmin(LookOnly):
    list_display = ("text", "nugget", "condition", "person", "at")
    list_filter = ("condition__campaign",)
    search_fields = ("text", "person__username")
    list_select_related = ("nugget", "condition", "person")


@admin.register(TrialLabel)
class TrialLabelAdmin(LookOnly):
    list_display = ("trial", "answer", "value")
    list_filter = ("trial__condition__campaign",)
    search_fields = ("trial__text", "answer__run__tag")
    list_select_related = ("trial", "answer")
