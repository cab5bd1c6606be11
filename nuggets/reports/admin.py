"""What was found for reports, and the reports, in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from nuggets.reports.models import EditedReport, EditedSentence, Reading, Report, ReportEdit


@admin.register(Reading)
class ReadingAdmin(LookOnly):
    list_display = ("pk", "condition", "topic", "question", "docid", "job", "at")
    search_fields = ("topic__qid", "docid", "question")
    list_select_related = ("condition", "topic", "job__condition")
    list_filter = ("condition__campaign",)


@admin.register(Report)
class ReportAdmin(LookOnly):
    list_display = ("tag", "condition", "text", "per_question", "person", "at")
    search_fields = ("tag", "condition__name")
    list_select_related = ("condition", "person")
    list_filter = ("text", "condition__campaign")


@admin.register(EditedReport)
class EditedReportAdmin(LookOnly):
    list_display = ("topic", "condition", "task", "state", "edition", "version", "finished_at")
    list_filter = ("condition__campaign", "state")
    search_fields = ("topic__qid", "condition__name")
    list_select_related = ("topic", "condition", "task__topic", "task__person")


@admin.register(EditedSentence)
class EditedSentenceAdmin(LookOnly):
    list_display = ("text", "decision", "docid", "report")
    list_filter = ("decision", "report__condition__campaign")
    search_fields = ("text", "docid", "report__topic__qid")
    list_select_related = ("report__topic", "report__condition")


@admin.register(ReportEdit)
class ReportEditAdmin(LookOnly):
    list_display = ("report", "version", "verb", "judge", "at")
    list_filter = ("verb",)
    search_fields = ("report__topic__qid",)
    list_select_related = ("report__topic", "report__condition", "judge")
