"""Judgments and what is handed out in Django's admin, to look at."""

from django.contrib import admin

from assessor.collection.admin import LookOnly
from assessor.relevance.models import Item, Judgment, Sheet


@admin.register(Judgment)
class JudgmentAdmin(LookOnly):
    list_display = ("docid", "topic", "condition", "state", "grade", "shown", "judge", "version", "at")
    list_filter = ("condition", "state", "grade")
    search_fields = ("docid", "topic__qid", "judge__name")
    list_select_related = ("topic", "condition", "judge")


@admin.register(Sheet)
class SheetAdmin(LookOnly):
    list_display = ("condition", "drawn", "seed")
    list_filter = ("drawn",)
    search_fields = ("condition__name",)
    list_select_related = ("condition",)


@admin.register(Item)
class ItemAdmin(LookOnly):
    list_display = ("docid", "topic", "condition", "place", "judgment", "holder", "held_until")
    list_filter = ("condition",)
    search_fields = ("docid", "topic__qid")
    list_select_related = ("topic", "condition", "judgment", "holder")
