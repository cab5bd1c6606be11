"""Exports in Django's admin, from the one list of what can be exported."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase

from assessor.collection.admin import LookOnly, person_of, the_one
from assessor.collection.http import download
from assessor.collection.models import Condition, QrelsSource
from assessor.exports.actions import send
from assessor.exports.registry import BY_NAME


def _send(request: HttpRequest, record: Any, kind: str) -> HttpResponseBase:
    """Send the file of a record; who takes a model's output away has seen it, and is no longer blind to it."""
    campaign, options = record.campaign, {"of": str(record)}
    export, sent = send(campaign=campaign, kind=BY_NAME[kind], options=options, acting_user=person_of(request))
    return download(f"{campaign.slug}.{export.file_name}", sent)


@admin.register(QrelsSource)
class QrelsSourceAdmin(LookOnly):
    list_display = ("name", "by", "campaign")
    list_filter = ("campaign", "by")
    search_fields = ("name",)
    list_select_related = ("campaign",)
    actions = ("export_qrels",)

    @admin.action(description="Export qrels of the selected source", permissions=["view"])
    def export_qrels(self, request: HttpRequest, queryset: QuerySet[QrelsSource]) -> HttpResponseBase | None:
        source = the_one(self, request, queryset)
        return _send(request, source, "qrels") if source else None


@admin.register(Condition)
class ConditionAdmin(LookOnly):
    list_display = ("name", "kind", "method", "campaign", "identity")
    list_filter = ("campaign", "kind", "method")
    search_fields = ("name",)
    list_select_related = ("campaign",)
    actions = ("export_nuggets", "export_assignments", "export_support")

    @admin.action(description="Export the finished nuggets of the selected condition (JSONL)", permissions=["view"])
    def export_nuggets(self, request: HttpRequest, queryset: QuerySet[Condition]) -> HttpResponseBase | None:
        return self._export(request, queryset, "nuggets", "nuggets")

    @admin.action(description="Export the assignments of the selected condition (JSONL)", permissions=["view"])
    def export_assignments(self, request: HttpRequest, queryset: QuerySet[Condition]) -> HttpResponseBase | None:
        return self._export(request, queryset, "assignment", "assignments")

    @admin.action(description="Export the support judgments of the selected condition (JSONL)", permissions=["view"])
    def export_support(self, request: HttpRequest, queryset: QuerySet[Condition]) -> HttpResponseBase | None:
        return self._export(request, queryset, "support", "support")

    def _export(
        self, request: HttpRequest, queryset: QuerySet[Condition], kind: str, what: str
    ) -> HttpResponseBase | None:
        condition = the_one(self, request, queryset)
        if condition is None:
            return None
        if condition.kind != kind:
            text = f"{condition} is a condition of {condition.kind}: it has no {kind} to export."
            self.message_user(request, text, messages.ERROR)
            return None
        return _send(request, condition, what)
