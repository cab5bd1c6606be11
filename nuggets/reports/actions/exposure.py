"""Who edits a report has seen what a model gave."""

from assessor.accounts.models import Person
from assessor.work.models import Exposure
from nuggets.reports.models import EditedReport
from nuggets.reports.queries import spoiled_kinds


def see_drafts(report: EditedReport, *, acting_user: Person) -> None:
    """Record, once for a person and a condition, that they see what a model found, for all work that it spoils."""
    topic, where = report.topic, f"drafts of {report.condition}"
    if not Exposure.objects.filter(person=acting_user, topic=topic, kind=report.condition.kind, where=where).exists():
        Exposure.objects.bulk_create(
            Exposure(person=acting_user, topic=topic, kind=kind, where=where)
            for kind in sorted({report.condition.kind, *spoiled_kinds()})
        )
