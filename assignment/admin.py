"""Answer sheets, their labels and revisions in Django's admin, to look at."""

from django.contrib import admin

from assessor.collection.admin import LookOnly
from assessor.work.admin import OpinionAdmin
from assignment.models import AnswerSheet, Assignment, LeftOut, Opinion, Revision


@admin.register(AnswerSheet)
class AnswerSheetAdmin(LookOnly):
    list_display = ("pk", "condition", "topic", "run", "judge", "to_do", "edition", "version", "by_rule")
    list_filter = ("condition__campaign", "condition", "by_rule")
    search_fields = ("answer__topic__qid", "answer__run__tag", "judge__name")
    list_select_related = ("condition", "answer__topic", "answer__run", "judge")

    @admin.display(ordering="answer__topic__qid")
    def topic(self, sheet: AnswerSheet) -> str:
        return sheet.answer.topic.qid

    @admin.display(ordering="answer__run__tag")
    def run(self, sheet: AnswerSheet) -> str:
        return sheet.answer.run.tag


@admin.register(Assignment)
class AssignmentAdmin(LookOnly):
    list_display = ("pk", "condition", "topic", "run", "nugget", "value", "state", "flag", "at")
    list_filter = ("state", "value", "sheet__condition__campaign", "sheet__condition")
    search_fields = ("sheet__answer__topic__qid", "sheet__answer__run__tag", "nugget__text")
    list_select_related = ("sheet__condition", "sheet__answer__topic", "sheet__answer__run", "nugget")

    @admin.display(ordering="sheet__condition")
    def condition(self, label: Assignment) -> str:
        return str(label.sheet.condition)

    @admin.display(ordering="sheet__answer__topic__qid")
    def topic(self, label: Assignment) -> str:
        return label.sheet.answer.topic.qid

    @admin.display(ordering="sheet__answer__run__tag")
    def run(self, label: Assignment) -> str:
        return label.sheet.answer.run.tag


@admin.register(Revision)
class RevisionAdmin(LookOnly):
    list_display = ("sheet", "version", "verb", "judge", "job", "edition", "seconds", "at")
    list_filter = ("verb",)
    search_fields = ("sheet__answer__topic__qid", "judge__name", "reason")
    list_select_related = ("sheet", "judge", "job")


@admin.register(LeftOut)
class LeftOutAdmin(LookOnly):
    list_display = ("nugget", "condition", "is_out", "reason", "person", "at")
    list_filter = ("condition", "is_out")
    search_fields = ("nugget__text", "reason")
    list_select_related = ("nugget", "condition", "person")


admin.site.register(Opinion, OpinionAdmin)
