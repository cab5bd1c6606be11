"""Nugget banks in Django's admin, to look at and to export."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase

from assessor.campaigns.admin import LookOnly, export, person_of
from assessor.campaigns.models import Condition, Topic
from assessor.campaigns.queries import byte_order, without_practice
from assessor.work.blindness import record_exposure
from nuggets.condition_kind import NUGGETS
from nuggets.exports import bank_lines
from nuggets.models import BankEdit, BankEdition, Drafting, Nugget, NuggetBank


@admin.register(NuggetBank)
class NuggetBankAdmin(LookOnly):
    list_display = ("topic", "condition", "maker", "state", "edition", "version", "finished_at")
    list_filter = ("condition__campaign", "condition", "state")
    search_fields = ("topic__qid", "topic__title", "maker__name")
    list_select_related = ("topic", "condition", "maker")
    actions = ("export_nuggets",)

    @admin.action(description="Export the selected finished banks (JSONL)", permissions=["view"])
    def export_nuggets(self, request: HttpRequest, queryset: QuerySet[NuggetBank]) -> HttpResponseBase | None:
        finished = queryset.filter(state=NuggetBank.State.FINISHED).select_related("topic", "condition__campaign")
        unfinished = queryset.count() - finished.count()
        if unfinished:
            text = f"{unfinished} of the selected banks are not finished: choose finished ones only."
            self.message_user(request, text, messages.ERROR)
            return None
        conditions = list(Condition.objects.filter(nugget_banks__in=finished).select_related("campaign").distinct())
        if len(conditions) != 1:
            text = "Choose banks of one condition: a file holds one."
            self.message_user(request, text, messages.ERROR)
            return None
        condition, person = conditions[0], person_of(request)
        if condition.shows_a_models_nuggets():
            topics = Topic.objects.filter(nugget_banks__in=finished).distinct()
            record_exposure(person, topics, NUGGETS.name, f"export of {condition}")
        in_order = without_practice(finished).order_by(byte_order("topic__qid"), "pk").prefetch_related("nuggets")
        return export(request, condition.campaign, f"nuggets.{condition}.jsonl", bank_lines(in_order.iterator(200)))


@admin.register(Nugget)
class NuggetAdmin(LookOnly):
    list_display = ("text", "importance", "origin", "bank", "made_by", "made_at")
    list_filter = ("bank__condition", "importance", "origin")
    search_fields = ("text", "bank__topic__qid")
    list_select_related = ("bank__topic", "bank__condition", "made_by")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Nugget]:
        """Leave out what an unfinished import brought."""
        return super().get_queryset(request).filter(bank__in=NuggetBank.objects.all())


@admin.register(BankEdit)
class BankEditAdmin(LookOnly):
    list_display = ("bank", "version", "verb", "judge", "at")
    list_filter = ("verb",)
    search_fields = ("bank__topic__qid", "judge__name")
    list_select_related = ("bank__topic", "bank__condition", "judge")


@admin.register(BankEdition)
class BankEditionAdmin(LookOnly):
    list_display = ("bank", "edition", "version", "at")
    list_filter = ("bank__condition",)
    search_fields = ("bank__topic__qid", "bank__condition__name")
    list_select_related = ("bank__topic", "bank__condition")


@admin.register(Drafting)
class DraftingAdmin(LookOnly):
    list_display = ("topic", "condition", "judge", "made_at")
    list_filter = ("condition",)
    search_fields = ("topic__qid", "topic__title", "judge__name")
    list_select_related = ("topic", "condition", "judge")
