"""What was found for reports, and the reports, in Django's admin, to look at."""

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from nuggets.reports.models import Reading, Report


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
