"""Tasks and what goes with them in Django's admin, to look at."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase

from assessor.campaigns.admin import LookOnly, export
from assessor.work.exports import task_lines
from assessor.work.models import (
    Draw,
    Exposure,
    Guidelines,
    GuidelinesOpened,
    Reminder,
    Reply,
    ReplyRead,
    Scope,
    Task,
    TimeSpent,
    Waiting,
    Write,
)


@admin.register(Task)
class TaskAdmin(LookOnly):
    list_display = ("topic", "kind", "condition", "person", "state", "done", "total", "seconds")
    list_filter = ("campaign", "kind", "state", ("person", admin.RelatedOnlyFieldListFilter))
    search_fields = ("topic__qid", "topic__title", "person__username")
    list_select_related = ("topic", "condition", "person")
    actions = ("export_tasks",)

    @admin.action(description="Export the selected tasks (CSV)", permissions=["view"])
    def export_tasks(self, request: HttpRequest, queryset: QuerySet[Task]) -> HttpResponseBase:
        return export(request, None, "tasks.csv", task_lines(queryset))


@admin.register(Waiting)
class WaitingAdmin(LookOnly):
    list_display = ("topic", "condition", "created_by", "created_at")
    list_filter = ("condition__campaign", "condition__kind")
    search_fields = ("topic__qid", "topic__title", "condition__name")
    list_select_related = ("topic", "condition", "created_by")


@admin.register(Scope)
class ScopeAdmin(LookOnly):
    list_display = ("condition", "topic", "run", "rule", "reason", "person", "at")
    list_filter = ("condition__campaign",)
    search_fields = ("condition__name", "topic__qid", "run__tag", "reason")
    list_select_related = ("condition", "topic", "run", "person")


@admin.register(Exposure)
class ExposureAdmin(LookOnly):
    list_display = ("person", "topic", "kind", "where", "at")
    list_filter = ("kind", ("person", admin.RelatedOnlyFieldListFilter))
    search_fields = ("person__username", "topic__qid")
    list_select_related = ("person", "topic")


@admin.register(TimeSpent)
class TimeSpentAdmin(LookOnly):
    list_display = ("at", "seconds", "task", "key")
    search_fields = ("key", "task__topic__qid", "task__person__username")
    list_select_related = ("task__topic", "task__person")


@admin.register(Write)
class WriteAdmin(LookOnly):
    list_display = ("key", "person", "at")
    search_fields = ("key", "person__username")
    list_select_related = ("person",)


@admin.register(Guidelines)
class GuidelinesAdmin(LookOnly):
    list_display = ("kind", "version", "campaign", "person", "at")
    list_filter = ("campaign", "kind")
    search_fields = ("text", "person__username")
    list_select_related = ("campaign", "person")


@admin.register(GuidelinesOpened)
class GuidelinesOpenedAdmin(LookOnly):
    list_display = ("person", "guidelines", "at")
    list_filter = ("guidelines__campaign", "guidelines__kind")
    search_fields = ("person__username",)
    list_select_related = ("person", "guidelines")


@admin.register(Reply)
class ReplyAdmin(LookOnly):
    list_display = ("task", "item", "question", "text", "person", "at")
    list_filter = ("task__campaign", "task__kind", ("person", admin.RelatedOnlyFieldListFilter))
    search_fields = ("task__topic__qid", "question", "text", "person__username")
    list_select_related = ("task__topic", "task__person", "person")


@admin.register(Reminder)
class ReminderAdmin(LookOnly):
    list_display = ("task", "person", "at", "seen_at")
    list_filter = ("task__campaign", ("person", admin.RelatedOnlyFieldListFilter))
    search_fields = ("task__topic__qid", "task__person__username")
    list_select_related = ("task__topic", "task__person", "person")


@admin.register(ReplyRead)
class ReplyReadAdmin(LookOnly):
    list_display = ("reply", "at")
    list_filter = ("reply__task__campaign",)
    search_fields = ("reply__task__topic__qid",)
    list_select_related = ("reply",)


@admin.register(Draw)
class DrawAdmin(LookOnly):
    list_display = ("condition", "seed", "created_by", "created_at")
    list_filter = ("condition__campaign",)
    search_fields = ("condition__name",)
    list_select_related = ("condition", "created_by")
