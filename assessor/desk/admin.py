"""What can be exported in Django's admin, from the one list of that."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase

from assessor.campaigns.admin import LookOnly, person_of, the_one
from assessor.campaigns.http import download
from assessor.campaigns.models import Campaign, Condition, QrelsSource, Run
from assessor.exportables import Exportable, Subject
from assessor.exports.actions import send
from assessor.exports.registry import BY_NAME, EXPORTABLES


def _send(request: HttpRequest, record: Any, kind: str) -> HttpResponseBase:
    """Send the file of a record; who takes a model's output away has seen it, and is no longer blind to it."""
    campaign, options = (record, {}) if isinstance(record, Campaign) else (record.campaign, {"of": str(record)})
    export, sent = send(campaign=campaign, kind=BY_NAME[kind], options=options, acting_user=person_of(request))
    return download(f"{campaign.slug}.{export.file_name}", sent)


@admin.register(Campaign)
class CampaignAdmin(LookOnly):
    list_display = ("name", "slug", "created_at", "created_by")
    search_fields = ("name", "slug")
    list_select_related = ("created_by",)
    actions = ("export_topics", "export_segments", "export_run_list")

    @admin.action(description="Export the topics of the selected campaign", permissions=["view"])
    def export_topics(self, request: HttpRequest, queryset: QuerySet[Campaign]) -> HttpResponseBase | None:
        campaign = the_one(self, request, queryset)
        return _send(request, campaign, "topics") if campaign else None

    @admin.action(description="Export the segments of the selected campaign (JSONL)", permissions=["view"])
    def export_segments(self, request: HttpRequest, queryset: QuerySet[Campaign]) -> HttpResponseBase | None:
        campaign = the_one(self, request, queryset)
        return _send(request, campaign, "segments") if campaign else None

    @admin.action(description="Export the list of runs of the selected campaign (CSV)", permissions=["view"])
    def export_run_list(self, request: HttpRequest, queryset: QuerySet[Campaign]) -> HttpResponseBase | None:
        campaign = the_one(self, request, queryset)
        return _send(request, campaign, "run_list") if campaign else None


@admin.register(Run)
class RunAdmin(LookOnly):
    list_display = ("tag", "team", "task", "type", "priority", "generator", "campaign")
    list_filter = ("campaign", "task", "type")
    search_fields = ("tag", "team", "aliases__name")
    list_select_related = ("campaign",)
    actions = ("export_answers",)

    @admin.action(description="Export the answers of the selected run (JSONL)", permissions=["view"])
    def export_answers(self, request: HttpRequest, queryset: QuerySet[Run]) -> HttpResponseBase | None:
        run = the_one(self, request, queryset)
        return _send(request, run, "run") if run else None


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


def _action(exportable: Exportable, subject: Subject) -> Callable[..., HttpResponseBase | None]:
    """Return the action that exports something of a condition."""

    @admin.action(
        description=f"Export the {exportable.in_admin} of the selected condition (JSONL)", permissions=["view"]
    )
    def export(
        model_admin: "ConditionAdmin", request: HttpRequest, queryset: QuerySet[Condition]
    ) -> HttpResponseBase | None:
        condition = the_one(model_admin, request, queryset)
        if condition is None:
            return None
        if not subject.records(condition.campaign).filter(pk=condition.pk).exists():
            text = f"{condition} is a condition of {condition.kind}: it has no {exportable.in_admin} to export."
            model_admin.message_user(request, text, messages.ERROR)
            return None
        return _send(request, condition, exportable.name)

    export.__name__ = f"export_{exportable.name}"
    return export


@admin.register(Condition)
class ConditionAdmin(LookOnly):
    list_display = ("name", "kind", "method", "campaign", "identity")
    list_filter = ("campaign", "kind", "method")
    search_fields = ("name",)
    list_select_related = ("campaign",)
    actions = [_action(one, one.subject) for one in EXPORTABLES if one.in_admin and one.subject]
