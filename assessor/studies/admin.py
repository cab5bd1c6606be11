"""Studies in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from assessor.studies.models import (
    Coding,
    ControlCheck,
    ControlSet,
    ErrorCode,
    Registration,
    SampledItem,
    Sensitivity,
    Study,
)


@admin.register(Study)
class StudyAdmin(LookOnly):
    list_display = ("name", "campaign", "kind", "purpose", "first", "second", "per_topic", "seed", "created_at")
    list_filter = ("campaign", "kind", "purpose")
    search_fields = ("name",)
    list_select_related = ("campaign", "first", "second")


@admin.register(Sensitivity)
class SensitivityAdmin(LookOnly):
    list_display = ("name", "campaign", "kind", "nuggets", "seed", "created_at")
    list_filter = ("campaign", "kind")
    search_fields = ("name",)
    list_select_related = ("campaign", "nuggets")


@admin.register(Registration)
class RegistrationAdmin(LookOnly):
    list_display = ("title", "campaign", "sha256", "made_at", "made_by")
    list_filter = ("campaign",)
    search_fields = ("title", "sha256")
    list_select_related = ("campaign", "made_by")


@admin.register(SampledItem)
class SampledItemAdmin(LookOnly):
    list_display = ("study", "answer_id", "item", "first_label", "second_label")
    list_filter = ("study",)
    search_fields = ("item", "study__name")
    list_select_related = ("study",)


@admin.register(ErrorCode)
class ErrorCodeAdmin(LookOnly):
    list_display = ("code", "campaign", "meaning", "created_at")
    list_filter = ("campaign",)
    search_fields = ("code", "meaning")
    list_select_related = ("campaign",)


@admin.register(Coding)
class CodingAdmin(LookOnly):
    list_display = ("drawn", "codes", "note", "person", "at")
    search_fields = ("note", "drawn__item")
    list_select_related = ("drawn", "person")


@admin.register(ControlSet)
class ControlSetAdmin(LookOnly):
    list_display = ("study", "every_days", "most_calls", "most_cost", "halts_jobs")
    search_fields = ("study__name",)
    list_select_related = ("study",)


@admin.register(ControlCheck)
class ControlCheckAdmin(LookOnly):
    list_display = ("condition", "at", "model", "cells", "labels", "flips", "expected", "kappa", "p", "is_alarm")
    list_filter = ("is_alarm",)
    search_fields = ("condition__name",)
    list_select_related = ("condition",)
