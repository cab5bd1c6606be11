"""Tasks and what goes with them in Django's admin, to look at."""

from django.contrib import admin

from assessor.collection.admin import LookOnly
from assessor.work.models import Exposure, Task, TimeSpent, Write


@admin.register(Task)
class TaskAdmin(LookOnly):
    list_display = ("topic", "kind", "condition", "person", "state", "done", "total", "seconds")
    list_filter = ("campaign", "kind", "state", "person")
    search_fields = ("topic__qid", "topic__title", "person__username")
    list_select_related = ("topic", "condition", "person")


@admin.register(Exposure)
class ExposureAdmin(LookOnly):
    list_display = ("person", "topic", "kind", "where", "at")
    list_filter = ("kind", "person")
    search_fields = ("person__username", "topic__qid")
    list_select_related = ("person", "topic")


@admin.register(TimeSpent)
class TimeSpentAdmin(LookOnly):
    list_display = ("at", "seconds", "key")
    search_fields = ("key",)


@admin.register(Write)
class WriteAdmin(LookOnly):
    list_display = ("key", "person", "at")
    search_fields = ("key", "person__username")
    list_select_related = ("person",)
