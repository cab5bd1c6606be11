"""Comparisons in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from metaeval.models import (
    Calculation,
    Calibration,
    CalibrationGate,
    CalibrationRequest,
    Comparison,
    Figure,
    Hybrid,
    ScoreTable,
)


@admin.register(ScoreTable)
class ScoreTableAdmin(LookOnly):
    list_display = ("name", "campaign", "file_name", "sha256", "created_by", "created_at")
    list_filter = ("campaign",)
    search_fields = ("name", "file_name")
    list_select_related = ("campaign", "created_by")
    exclude = ("content",)

    def get_queryset(self, request):  # type: ignore[no-untyped-def]
        return super().get_queryset(request).defer("content")


@admin.register(Comparison)
class ComparisonAdmin(LookOnly):
    list_display = ("name", "campaign", "policy", "seed", "draws", "created_by", "created_at")
    list_filter = ("campaign",)
    search_fields = ("name",)
    list_select_related = ("campaign", "created_by")


@admin.register(Calculation)
class CalculationAdmin(LookOnly):
    list_display = ("comparison", "state", "why", "created_at", "ended_at")
    list_filter = ("state",)
    search_fields = ("comparison__name",)
    list_select_related = ("comparison",)
    exclude = ("result", "files")


@admin.register(Figure)
class FigureAdmin(LookOnly):
    list_display = ("title", "calculation_id", "name")
    search_fields = ("name", "title")
    exclude = ("specification",)


@admin.register(Calibration)
class CalibrationAdmin(LookOnly):
    list_display = ("name", "campaign", "labels", "topics", "created_by", "created_at")
    list_filter = ("campaign",)
    search_fields = ("name",)
    list_select_related = ("campaign", "created_by")
    exclude = ("result",)


@admin.register(CalibrationRequest)
class CalibrationRequestAdmin(LookOnly):
    list_display = ("judged", "people", "campaign", "state", "why", "created_by", "created_at", "ended_at")
    list_filter = ("campaign", "state")
    search_fields = ("judged__name", "human__name", "human_source__name")
    list_select_related = ("campaign", "human", "human_source", "judged", "created_by")


@admin.register(CalibrationGate)
class CalibrationGateAdmin(LookOnly):
    list_display = ("campaign", "least_kappa", "least_labels", "least_topics", "created_by", "created_at")
    list_filter = ("campaign",)
    search_fields = ("campaign__name",)
    list_select_related = ("campaign", "created_by")


@admin.register(Hybrid)
class HybridAdmin(LookOnly):
    list_display = ("name", "campaign", "human", "model", "target", "confidence", "created_by", "created_at")
    list_filter = ("campaign", "target")
    search_fields = ("name", "human__name", "model__name")
    list_select_related = ("campaign", "human", "model", "created_by")
