"""All that differs where reports are written from banks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Sum
from django.urls import reverse
from django.utils.translation import gettext_noop

from assessor.campaigns.condition_kind import ConditionKind, Lacking, Section, kind_of

if TYPE_CHECKING:
    from datetime import datetime

    from assessor.campaigns.models import Campaign, Condition, Topic
    from assessor.exportables import Chosen
    from assessor.labels.cutoff import Cell
    from assessor.work.models import Task
    from nuggets.reports.forms import ReportFields

REPORT, EDITS = "Report", "Report+Edits"


class Reports(ConditionKind):
    """What documents say to the questions of a bank, and what people choose of it. The reports are runs."""

    name = gettext_noop("reports")
    title = gettext_noop("Reports")
    instruction = gettext_noop("Choose the sentences of a report, and sign it.")
    counted = gettext_noop("sentences")
    done = "decided"
    blind_method = ""
    peoples_methods = (EDITS,)
    methods = (REPORT, EDITS)
    builds_on = ("questions", "nuggets")
    is_in_every_study = False
    related = "report"
    shown_called = "Drafts that people edit"
    keys: Mapping[str, str] = {
        "j": gettext_noop("next sentence"),
        "k": gettext_noop("sentence before"),
        "y": gettext_noop("take the sentence in"),
        "n": gettext_noop("leave it out"),
        "v": gettext_noop("take it in, in the document's words"),
        "e": gettext_noop("reword"),
        "a": gettext_noop("write a sentence"),
        "[": gettext_noop("move up in the report"),
        "]": gettext_noop("move down in the report"),
        "u": gettext_noop("undo; with ⇧ redo"),
        "s": gettext_noop("sign"),
    }

    def in_words(self, condition: Condition) -> str:
        if condition.shown:
            return f"{self.title} from {condition.shown}, drafted by {condition.shown.maker}, edited by people"
        assert condition.nuggets is not None, "reports are written from a bank"
        counted = kind_of(condition.nuggets).counted.capitalize()
        return f"{counted} of {condition.nuggets} looked for in documents by {condition.maker}"

    def prepare(self, task: Task) -> None:
        from nuggets.reports.actions import prepare_report

        prepare_report(task)

    def url(self, task: Task) -> str:
        return reverse("report_editor", args=[task.report.pk])

    def closed(self, condition: Condition) -> str | None:
        """People can't do what a model does."""
        if condition.method in self.peoples_methods:
            return None
        return f"Nobody can be given {condition.name}: a model reads the documents."

    def lacking(self, condition: Condition, topics: Sequence[Topic]) -> Lacking:
        """People can't edit what is not found yet; and no report is written for practice."""
        from nuggets.reports.queries import ready_to_edit

        ready = ready_to_edit(condition.shown, topics) if condition.shown else {}
        found = {topic.pk for topic in topics if topic.pk not in ready or topic.is_practice}
        return Lacking(
            found,
            lambda qids: (
                f"Under {condition.name} there is nothing to edit on {qids}: first a model has to read all documents "
                f"under {condition.shown}. On topics for practice no reports are written."
            ),
        )

    def spoils(self, condition: Condition) -> Collection[str]:
        from nuggets.reports.queries import spoiled_kinds

        return spoiled_kinds() if condition.is_by_people else ()

    def condition_fields(self, campaign: Campaign) -> ReportFields:
        from nuggets.reports.forms import ReportFields

        return ReportFields(campaign)

    def shown_passages(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, str]]:
        from nuggets.reports.queries import documents_to_read

        return documents_to_read(condition, topics)

    def runs_section(self, campaign: Campaign) -> Section | None:
        from nuggets.reports.forms import ReportForm

        if not campaign.conditions.filter(kind=self.name).exists():
            return None
        return Section("reports/_reports.html", ReportForm(campaign), "reports", "Write a report")

    def run_marks(self, condition: Condition) -> Mapping[str, str]:
        from nuggets.reports.circularity import run_marks

        return run_marks(condition)

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        from nuggets.reports.cutoff import cells_of_documents, cells_of_reports

        return cells_of_reports(chosen, at) if chosen.record.is_by_people else cells_of_documents(chosen, at)

    def missing(self, condition: Condition) -> Iterator[str]:
        from assessor.labels.completeness import by_topic
        from assessor.work.models import Task
        from nuggets.reports.models import EditedReport
        from nuggets.reports.queries import unread

        reports = EditedReport.objects.filter(condition=condition).exclude(task__state=Task.State.WITHDRAWN)
        yield from by_topic(reports.filter(finished_at=None), "report is not signed", "reports are not signed")
        if condition.is_by_people and not reports.exclude(finished_at=None).exists():
            yield "No report is signed yet."
        for qid, count in unread(condition):
            yield f"{qid}: {count:,} pairs of question and document are not read."

    def state(self, condition: Condition) -> tuple[Any, ...]:
        from nuggets.reports.models import EditedReport, Reading

        read = Reading.objects.filter(condition=condition).aggregate(Count("pk"), Max("pk"))
        edited = EditedReport.objects.filter(condition=condition).aggregate(Count("pk"), Sum("version"), Max("pk"))
        return (*read.values(), *edited.values())

    def has_work(self) -> Q:
        from nuggets.reports.models import Reading

        return Q(Exists(Reading.objects.filter(topic=OuterRef("pk"))))

    def label_records(self, condition: Condition) -> Sequence[QuerySet[Any]]:
        from nuggets.reports.models import EditedReport, Reading

        edited = EditedReport.objects.filter(condition=condition, version__gt=0)
        return Reading.objects.filter(condition=condition), edited


REPORTS = Reports()
