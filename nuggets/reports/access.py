"""The only way to a report that a person edits."""

from django.http import Http404

from assessor.accounts.models import Person
from nuggets.access import organized_list, own_list
from nuggets.reports.models import EditedReport

_WITH = ("topic", "condition__campaign", "condition__protocol", "condition__judge", "condition__nuggets__judge")
_SHOWN = ("condition__shown__judge", "condition__qrels_source__condition__judge", "condition__retrieval_run")


def own_report(person: Person, report_id: int) -> EditedReport:
    """Return the report of a person's own task, to work on. Raises Http404 for anybody else's and for none."""
    return own_list(EditedReport, person, report_id, "condition__shown", *_SHOWN[1:])


def organized_report(person: Person, report_id: int) -> EditedReport:
    """Return somebody else's report in a campaign that the person organizes. Raises Http404."""
    return organized_list(EditedReport, person, report_id, (*_WITH, *_SHOWN, "task__person"))


def readable_report(person: Person, report_id: int) -> EditedReport:
    """Return a report to look at: one of a campaign that one organizes, or one's own. Raises Http404."""
    try:
        return organized_report(person, report_id)
    except Http404:
        return own_report(person, report_id)
