"""All that differs where reports are written from banks of questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, Max, OuterRef, Q

from assessor.campaigns.condition_kind import ConditionKind, Section

if TYPE_CHECKING:
    from datetime import datetime

    from assessor.campaigns.models import Campaign, Condition
    from assessor.exportables import Chosen
    from assessor.labels.cutoff import Cell

REPORT = "Report"


class Reports(ConditionKind):
    """What documents say to the questions of a bank. The reports that are put together of it are runs."""

    name = "reports"
    title = "Reports"
    instruction = "Find what documents say to the questions of a bank."
    counted = "questions"
    done = "looked for in documents"
    blind_method = ""
    peoples_methods = ()
    methods = (REPORT,)
    builds_on = ("questions", "nuggets")
    has_screen = False
    is_in_every_study = False

    def runs_section(self, campaign: Campaign) -> Section | None:
        from nuggets.reports.forms import ReportForm

        if not campaign.conditions.filter(kind=self.name).exists():
            return None
        return Section("reports/_reports.html", ReportForm(campaign), "reports", "Write a report")

    def run_marks(self, condition: Condition) -> Mapping[str, str]:
        from nuggets.reports.circularity import run_marks

        return run_marks(condition)

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        from nuggets.reports.cutoff import cells_of_documents

        return cells_of_documents(chosen, at)

    def missing(self, condition: Condition) -> Iterator[str]:
        from nuggets.reports.queries import unread

        for qid, count in unread(condition):
            yield f"{qid}: {count:,} pairs of question and document are not read."

    def state(self, condition: Condition) -> tuple[Any, ...]:
        from nuggets.reports.models import Reading

        return tuple(Reading.objects.filter(condition=condition).aggregate(Count("pk"), Max("pk")).values())

    def has_work(self) -> Q:
        from nuggets.reports.models import Reading

        return Q(Exists(Reading.objects.filter(topic=OuterRef("pk"))))


REPORTS = Reports()
