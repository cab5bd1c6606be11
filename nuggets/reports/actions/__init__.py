"""The only writers of what was found for reports, of people's edits of it, and of the runs that are made of both."""

from nuggets.reports.actions.edits import (
    add_sentence,
    findings,
    leave_out,
    move_sentence,
    reopen_report,
    reword_sentence,
    sign_report,
    take_in,
)
from nuggets.reports.actions.exposure import see_drafts
from nuggets.reports.actions.preparation import create_edited_reports, prepare_report
from nuggets.reports.actions.readings import store_readings
from nuggets.reports.actions.runs import ReportError, Written, write_report

__all__ = [
    "ReportError",
    "Written",
    "add_sentence",
    "create_edited_reports",
    "findings",
    "leave_out",
    "move_sentence",
    "prepare_report",
    "reopen_report",
    "reword_sentence",
    "see_drafts",
    "sign_report",
    "store_readings",
    "take_in",
    "write_report",
]
