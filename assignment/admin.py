"""Answer sheets, their labels and events in Django's admin, to look at."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from assessor.campaigns.admin import LookOnly, export
from assessor.labels.admin import JudgedAnswerAdmin, LabelAdmin, LabelEventAdmin
from assignment.exports import label_lines
from assignment.models import AnswerSheet, Assignment, LabelEvent, LeftOut


@admin.register(AnswerSheet)
class AnswerSheetAdmin(JudgedAnswerAdmin):
    list_display = ("pk", "condition", "topic", "run", "judge", "to_do", "edition", "version", "by_rule")
    list_filter = ("condition__campaign", "condition", "by_rule")


@admin.register(Assignment)
class AssignmentAdmin(LabelAdmin):
    list_display = ("pk", "condition", "topic", "run", "nugget", "value", "state", "flag", "at")
    search_fields = ("sheet__answer__topic__qid", "sheet__answer__run__tag", "nugget__text")
    list_select_related = (*LabelAdmin.list_select_related, "nugget")
    actions = ("export_labels",)

    @admin.action(description="Export the selected labels (CSV)", permissions=["view"])
    def export_labels(self, request: HttpRequest, queryset: QuerySet[Assignment]) -> HttpResponseBase:
        return export(request, None, "labels.csv", label_lines(queryset))


@admin.register(LabelEvent)
class AssignmentEventAdmin(LabelEventAdmin):
    list_display = ("sheet", "version", "verb", "nugget", "value_before", "value", "judge", "job", "seconds", "at")
    search_fields = ("sheet__answer__topic__qid", "sheet__answer__run__tag", "nugget__text", "judge__name", "reason")
    list_select_related = ("sheet", "nugget", "judge", "job")


@admin.register(LeftOut)
class LeftOutAdmin(LookOnly):
    list_display = ("nugget", "condition", "is_out", "reason", "person", "at")
    list_filter = ("condition", "is_out")
    search_fields = ("nugget__text", "reason")
    list_select_related = ("nugget", "condition", "person")
