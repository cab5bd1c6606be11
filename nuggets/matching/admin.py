"""Matchings in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from nuggets.matching.models import BankMatching, NuggetMatch


@admin.register(BankMatching)
class BankMatchingAdmin(LookOnly):
    list_display = ("topic", "condition", "number", "judge", "job", "at")
    list_filter = ("condition__campaign",)
    search_fields = ("topic__qid", "condition__name")
    list_select_related = ("topic", "condition", "judge", "job__condition")


@admin.register(NuggetMatch)
class NuggetMatchAdmin(LookOnly):
    list_display = ("matching", "first", "second")
    list_filter = ("matching__condition__campaign",)
    search_fields = ("first__text", "second__text")
    list_select_related = ("matching__topic", "matching__condition", "first", "second")
