"""Manual setups, and what judged answers and labels of all kinds have in Django's admin, to look at."""

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import build_q_object_from_lookup_parameters
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest

from assessor.campaigns.admin import LookOnly
from assessor.campaigns.models import Condition
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


class ConditionFilter(admin.RelatedFieldListFilter):
    """By the condition that a label stands under, or by its campaign.

    It is asked of each record in turn: with a join, SQLite collects all records of the condition, and sorts them,
    before it shows the first.
    """

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        path = self.field_path.removesuffix("__campaign")
        asked: dict[str, Any] = {
            name.removeprefix(f"{path}__"): values for name, values in self.used_parameters.items()
        }
        if not asked:
            return queryset
        try:
            conditions = Condition.everything.filter(build_q_object_from_lookup_parameters(asked), pk=OuterRef(path))
        except (ValueError, ValidationError) as error:
            raise IncorrectLookupParameters(error) from error
        return queryset.filter(Exists(conditions))


_BY_CONDITION = (("sheet__condition__campaign", ConditionFilter), ("sheet__condition", ConditionFilter))


class LabelAdmin(LookOnly):
    """For each app's labels."""

    list_filter = ("state", "value", *_BY_CONDITION)
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


class LabelEventAdmin(LookOnly):
    """For each app's events of labels."""

    list_filter: ClassVar[tuple[Any, ...]] = ("verb", "value", *_BY_CONDITION)
    ordering = ("-pk",)  # the newest first, as in the history; the order of sheets is known only once all are sorted
