"""ARGUE sheets, their judgments and events in Django's admin, to look at."""

from django.contrib import admin

from assessor.labels.admin import JudgedAnswerAdmin, LabelAdmin, LabelEventAdmin
from assignment.argue.models import ArgueJudgment, ArgueSheet, LabelEvent


@admin.register(ArgueSheet)
class ArgueSheetAdmin(JudgedAnswerAdmin):
    list_display = ("pk", "condition", "topic", "run", "judge", "edition", "cut", "to_do", "version")
    list_filter = ("condition__campaign", "condition")


@admin.register(ArgueJudgment)
class ArgueJudgmentAdmin(LabelAdmin):
    list_display = ("pk", "condition", "topic", "run", "sentence", "docid", "step", "value", "state", "at")
    search_fields = ("sheet__answer__topic__qid", "sheet__answer__run__tag", "docid")


@admin.register(LabelEvent)
class ArgueEventAdmin(LabelEventAdmin):
    list_display = ("sheet", "version", "verb", "judgment", "value_before", "value", "judge", "job", "seconds", "at")
    search_fields = ("sheet__answer__topic__qid", "sheet__answer__run__tag", "judge__name", "reason")
    list_select_related = ("sheet", "judgment", "judge", "job")
