"""Support sheets, their labels and events in Django's admin, to look at."""

from django.contrib import admin

from assessor.labels.admin import JudgedAnswerAdmin, LabelAdmin, LabelEventAdmin
from support.models import LabelEvent, SupportJudgment, SupportSheet


@admin.register(SupportSheet)
class SupportSheetAdmin(JudgedAnswerAdmin):
    list_display = ("pk", "condition", "topic", "run", "judge", "to_do", "version")
    list_filter = ("condition__campaign", "condition")


@admin.register(SupportJudgment)
class SupportJudgmentAdmin(LabelAdmin):
    list_display = ("pk", "condition", "topic", "run", "sentence", "docid", "value", "state", "flag", "at")
    search_fields = ("sheet__answer__topic__qid", "sheet__answer__run__tag", "docid")


@admin.register(LabelEvent)
class SupportEventAdmin(LabelEventAdmin):
    list_display = ("sheet", "version", "verb", "judgment", "value_before", "value", "judge", "job", "seconds", "at")
    search_fields = ("sheet__answer__topic__qid", "sheet__answer__run__tag", "judge__name", "reason")
    list_select_related = ("sheet", "judgment", "judge", "job")
