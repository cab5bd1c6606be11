"""Comparisons in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from metaeval.models import Calculation, Comparison, Figure, Hybrid, ScoreTable


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


@admin.register(Hybrid)
class HybridAdmin(LookOnly):
    list_display = ("name", "campaign", "human", "model", "target", "confidence", "created_by", "created_at")
    list_filter = ("campaign", "target")
    search_fields = ("name", "human__name", "model__name")
    list_select_related = ("campaign", "human", "model", "created_by")
