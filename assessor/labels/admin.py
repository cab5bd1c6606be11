"""Manual setups, and what judged answers and labels of all kinds have in Django's admin, to look at."""

from typing import Any, ClassVar

from django.contrib import admin

from assessor.campaigns.admin import LookOnly
from assessor.labels.models import ManualSetup


@admin.register(ManualSetup)
class ManualSetupAdmin(LookOnly):
    list_display = ("condition", "purpose", "from_queue", "of", "share", "only_unjudgeable", "seed")
    list_filter = ("condition__campaign", "condition__kind", "purpose", "from_queue")
    search_fields = ("condition__name",)
    list_select_related = ("condition", "of")


class JudgedAnswerAdmin(LookOnly):
    """For each app's judged answers."""

    search_fields = ("answer__topic__qid", "answer__run__tag", "judge__name")
    list_select_related = ("condition", "answer__topic", "answer__run", "judge")

    @admin.display(ordering="answer__topic__qid")
    def topic(self, sheet: Any) -> str:
        return str(sheet.answer.topic.qid)

    @admin.display(ordering="answer__run__tag")
    def run(self, sheet: Any) -> str:
        return str(sheet.answer.run.tag)


class LabelAdmin(LookOnly):
    """For each app's labels."""

    list_filter = ("state", "value", "sheet__condition__campaign", "sheet__condition")
    list_select_related: ClassVar[tuple[str, ...]] = ("sheet__condition", "sheet__answer__topic", "sheet__answer__run")

    @admin.display(ordering="sheet__condition")
    def condition(self, label: Any) -> str:
        return str(label.sheet.condition)

    @admin.display(ordering="sheet__answer__topic__qid")
    def topic(self, label: Any) -> str:
        return str(label.sheet.answer.topic.qid)

    @admin.display(ordering="sheet__answer__run__tag")
    def run(self, label: Any) -> str:
        return str(label.sheet.answer.run.tag)
