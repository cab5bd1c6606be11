"""Nugget banks in Django's admin, to look at and to export."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase

from assessor.collection import history
from assessor.collection.admin import LookOnly, person_of
from assessor.collection.http import download
from nuggets.exports import bank_lines
from nuggets.models import BankEdit, BankEdition, Nugget, NuggetBank


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
        for bank in finished:
            history.record("exported", bank, campaign=bank.condition.campaign, person=person_of(request))
        return download("nuggets.jsonl", bank_lines(finished.order_by("topic__qid", "pk").prefetch_related("nuggets")))


@admin.register(Nugget)
class NuggetAdmin(LookOnly):
    list_display = ("text", "importance", "origin", "bank", "made_by", "made_at")
    list_filter = ("bank__condition", "importance", "origin")
    search_fields = ("text", "bank__topic__qid")
    list_select_related = ("bank__topic", "bank__condition", "made_by")


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
