"""The editor of a report over HTTP."""

import json
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from assessor.accounts.languages import in_own_language
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.report_length import characters, report_limit
from assessor.work.access import require_running
from assessor.work.actions import note_opened
from assessor.work.actions.guidelines import shown_guidelines
from assessor.work.queries import minutes, place
from assessor.work.write_protocol import Result, number
from nuggets.access import is_owner
from nuggets.actions import MAX_CHARACTERS, ReopenError, redo, undo
from nuggets.reports import actions, queries
from nuggets.reports.access import organized_report, own_report, readable_report
from nuggets.reports.models import EditedReport
from nuggets.views.editor import uuid_of
from nuggets.views.writes import Editor, writes_on

_SCRIPTS = ("assay/words.js", "assay/outbox.js", "assay/report.js")


@require_safe
@ensure_csrf_cookie  # the page's own scripts write, whichever page the person came from
def editor(request: PersonRequest, report_id: int) -> HttpResponse:
    """The whole page; read-only for organizers, and once the report is signed."""
    report = readable_report(request.user, report_id)
    owner = is_owner(request.user, report)
    show = in_own_language(_show) if owner else _show
    return show(request, report, owner)


def _show(request: PersonRequest, report: EditedReport, owner: bool) -> HttpResponse:
    if owner:
        require_running(report.task)
        note_opened(report.task)
        actions.see_drafts(report, acting_user=request.user)
    read_only = not owner or report.state == EditedReport.State.FINISHED
    sentences = queries.sentences_in_order(report)
    context = {
        "report": report,
        "condition": report.condition,
        "task": report.task,
        "is_owner": owner,
        "read_only": read_only,
        "known": "" if read_only else json.dumps(_tell(report), ensure_ascii=False),
        "questions": queries.by_question(report),
        "documents": queries.documents(report),
        "sentences": sentences,
        "length": sum(characters(sentence.text) for sentence in sentences),
        "limit": report_limit(report.topic, report.condition.protocol),
        "most_characters": MAX_CHARACTERS,
        "scripts": _SCRIPTS if read_only else (*_SCRIPTS, "assay/clock.js"),
        "guidelines": shown_guidelines(report.condition.campaign_id, report.condition.kind, report.guidelines_version),
        "place": place(report.task) if owner else None,
        "reopening": queries.reopening(report),
        "story": None if owner else queries.story(report),
        "time": minutes(report.task.seconds),
    }
    return render(request, "reports/editor.html", context)


def _tell(report: EditedReport) -> dict[str, Any]:
    return queries.told(report, report.sentences.all()) | {
        "findings": [one.message for one in actions.findings(report, queries.sentences_in_order(report))]
    }


def _signed(report: EditedReport) -> str:
    return gettext("Signed: the report can be read, no longer changed.")


write = writes_on(Editor(own_report, actions.see_drafts, _tell, _signed))


@write
def take(request: PersonRequest, report: EditedReport, by: dict[str, Any], uid: UUID) -> Result:
    return actions.take_in(report, uid=uid, is_verbatim=request.POST.get("verbatim") == "1", **by)


@write
def leave(request: PersonRequest, report: EditedReport, by: dict[str, Any], uid: UUID) -> Result:
    return actions.leave_out(report, uid=uid, **by)


@write
def reword(request: PersonRequest, report: EditedReport, by: dict[str, Any], uid: UUID) -> Result:
    return actions.reword_sentence(report, uid=uid, text=request.POST.get("text", ""), **by)


@write
def move(request: PersonRequest, report: EditedReport, by: dict[str, Any], uid: UUID) -> Result:
    return actions.move_sentence(report, uid=uid, to=number(request, "to"), **by)


@write
def add(request: PersonRequest, report: EditedReport, by: dict[str, Any]) -> Result:
    uid = uuid_of(request.POST.get("uid", ""))
    question, docid, text = (request.POST.get(name, "") for name in ("question", "docid", "text"))
    return actions.add_sentence(report, uid=uid, question=question, docid=docid, text=text, **by)


@write
def take_back(request: PersonRequest, report: EditedReport, by: dict[str, Any]) -> Result:
    return undo(report, **by)


@write
def do_again(request: PersonRequest, report: EditedReport, by: dict[str, Any]) -> Result:
    return redo(report, **by)


@write
def sign(request: PersonRequest, report: EditedReport, by: dict[str, Any]) -> Result:
    return actions.sign_report(report, **by)


@require_POST
def reopen(request: PersonRequest, report_id: int) -> HttpResponse:
    """An organizer gives a signed report back to its person."""
    report = organized_report(request.user, report_id)
    try:
        actions.reopen_report(report, reason=request.POST.get("reason", ""), acting_user=request.user)
    except ReopenError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Reopened: {report.task.person} finds the topic among their open work.")
    return redirect("report_editor", report_id)
