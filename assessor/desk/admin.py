"""Exports in Django's admin that need more than the collection knows."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase

from assessor.collection import exports
from assessor.collection.admin import LookOnly, export, person_of, the_one
from assessor.collection.models import Condition, QrelsSource, Topic
from assessor.work.blindness import record_exposure


@admin.register(QrelsSource)
class QrelsSourceAdmin(LookOnly):
    list_display = ("name", "by", "campaign")
    list_filter = ("campaign", "by")
    search_fields = ("name",)
    list_select_related = ("campaign",)
    actions = ("export_qrels",)

    @admin.action(description="Export qrels of the selected source", permissions=["view"])
    def export_qrels(self, request: HttpRequest, queryset: QuerySet[QrelsSource]) -> HttpResponseBase | None:
        """Write a source's qrels; who takes a model's grades away has seen them, and is no longer blind to them."""
        source = the_one(self, request, queryset)
        if source is None:
            return None
        if source.by == QrelsSource.By.MODEL:
            topics = Topic.objects.filter(grades__source=source).distinct()
            record_exposure(person_of(request), topics, Condition.Kind.RELEVANCE, f"export of {source}")
        return export(request, source.campaign, f"qrels.{source}.txt", exports.qrels_lines(source))
