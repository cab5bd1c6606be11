"""Exports in Django's admin that need more than the collection knows."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase

from assessor.collection import exports, history
from assessor.collection.admin import LookOnly, person_of
from assessor.collection.http import download
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
        if queryset.count() != 1:
            self.message_user(request, "Choose one source: a qrels file holds one.", messages.ERROR)
            return None
        source, person = queryset.get(), person_of(request)
        if source.by == QrelsSource.By.MODEL:
            topics = Topic.objects.filter(grades__source=source).distinct()
            record_exposure(person, topics, Condition.Kind.RELEVANCE, f"export of {source}")
        history.record("exported", f"qrels of {source}", campaign=source.campaign, person=person)
        return download(f"{source.campaign.slug}.qrels.{source}.txt", exports.qrels_lines(source))
