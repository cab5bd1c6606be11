"""Support sheets and their revisions in Django's admin, to look at."""

from django.contrib import admin

from assessor.collection.admin import LookOnly
from assessor.work.admin import OpinionAdmin
from support.models import Opinion, Revision, SupportSheet


@admin.register(SupportSheet)
class SupportSheetAdmin(LookOnly):
    list_display = ("pk", "condition", "topic", "run", "judge", "to_do", "version")
    list_filter = ("condition__campaign", "condition")
    search_fields = ("answer__topic__qid", "answer__run__tag", "judge__name")
    list_select_related = ("condition", "answer__topic", "answer__run", "judge")

    @admin.display(ordering="answer__topic__qid")
    def topic(self, sheet: SupportSheet) -> str:
        return sheet.answer.topic.qid

    @admin.display(ordering="answer__run__tag")
    def run(self, sheet: SupportSheet) -> str:
        return sheet.answer.run.tag


@admin.register(Revision)
class RevisionAdmin(LookOnly):
    list_display = ("sheet", "version", "verb", "judge", "job", "seconds", "at")
    list_filter = ("verb",)
    search_fields = ("sheet__answer__topic__qid", "judge__name", "reason")
    list_select_related = ("sheet", "judge", "job")


admin.site.register(Opinion, OpinionAdmin)
