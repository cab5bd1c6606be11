"""The screen over HTTP. A write answers with the version that it made, or says why it was refused."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from assessor.accounts.languages import in_own_language
from assessor.campaigns.http import PersonRequest
from assessor.formats.values import to_json
from assessor.labels.queries import at_hand
from assessor.labels.replies import replies_on
from assessor.labels.workbench import workbench_context
from assessor.studies.actions import see_labels
from assessor.work.access import NotAmongOwn, require_running
from assessor.work.actions import note_opened
from assessor.work.models import Task
from assessor.work.queries import minutes
from assessor.work.write_protocol import BadWrite, Gone, Result, number, seconds, signed_off, writes_on
from support import actions, queries, screen
from support.access import OwnSheet, organized_judging, own_judging, own_sheet, own_sheets
from support.citations import LABELS

AT_HAND = 4  # answers in the page: what can be done without a connection, at the least
ON_A_PAGE = 10  # answers, for organizers
SCRIPTS = tuple(f"assay/{name}.js" for name in ("words", "outbox", "clock", "workbench", "support"))
# Each with its key, its sign and what it means.
CHOICES = tuple(
    zip(
        LABELS,
        "123",
        "✓◐\u2013",
        (
            gettext_noop("all of the sentence is supported"),
            gettext_noop("some of it is, other parts are not"),
            gettext_noop("no part of it is supported"),
        ),
        strict=True,
    )
)


@require_safe
@ensure_csrf_cookie  # the page's own scripts write, whichever page the person came from
def support(request: PersonRequest, task_id: int) -> HttpResponse:
    """The screen; for the campaign's organizers, what was said so far."""
    try:
        return _look(request, organized_judging(request.user, task_id))
    except Http404:
        return _work(request, own_judging(request.user, task_id))


@in_own_language
def _work(request: PersonRequest, task: Task) -> HttpResponse:
    see_labels(task)
    require_running(task)
    note_opened(task)
    queue = screen.queue(task)
    own = own_sheets(task, at_hand(queue, request.GET.get("answer", ""), AT_HAND))
    context = {
        **workbench_context(task, SCRIPTS),
        "closed": actions.why_closed(task),
        "queue": to_json(queue),
        "replies": to_json(replies_on(task)),
        "answers": screen.shown(own),
        "by_rule": screen.by_rule(task),
        "choices": CHOICES,
    }
    return render(request, "support/judging.html", context)


def _look(request: PersonRequest, task: Task) -> HttpResponse:
    page = Paginator(queries.all_sheets(task), ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": task.campaign,
        "task": task,
        "page": page,
        "answers": queries.judged(page),
        "progress": queries.progress(queries.sheets_on(task)),
        "time": minutes(task.seconds),
    }
    return render(request, "support/judged.html", context)


@require_safe
@in_own_language
def answer(request: PersonRequest, task_id: int, sheet_id: int) -> HttpResponse:
    """One of the person's answers, with the passages that they judge and what they said."""
    try:
        own = own_sheet(request.user, task_id, sheet_id)
    except NotAmongOwn as error:
        raise Http404(str(error)) from error
    if own.sheet.out_of_scope:
        raise Http404("Nobody is asked about this answer any more.")
    require_running(own.task)
    if own.is_adjudicated:
        see_labels(own.task)
    # Without the request: nothing that every page's frame asks for is in it.
    return HttpResponse(render_to_string("support/_answer.html", {"answer": screen.shown([own])[0]}))


def _standing(own: OwnSheet) -> dict[str, Any]:
    return {"said": screen.said(own)}


write = writes_on(own_sheet, _standing)


@write
def label(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Say how far the passage supports the sentence, or (label "") take back what was said."""
    given = request.POST.get("label")
    if given is None:
        raise BadWrite("There is no label.")
    return actions.give_label(own, citation=_citation(request, own), label=given, seconds=seconds(request), seen=seen)


@write
def cannot(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Say why a citation can't be judged."""
    reason = request.POST.get("reason", "")
    return actions.mark_unjudgeable(
        own, citation=_citation(request, own), reason=reason, seconds=seconds(request), seen=seen
    )


@write
def flag(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Leave a note for the organizer on a citation, or (note "") take it away."""
    return actions.flag(own, citation=_citation(request, own), note=request.POST.get("note", ""), seen=seen)


@write
def show(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Tell the model's label of the citation that is on screen now."""
    return actions.show(own, citation=_citation(request, own), seen=seen)


@write
def later(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Put the answer off to the end of the queue, or back to the place that is named."""
    to = number(request, "to") if "to" in request.POST else None
    return actions.put_off(own, to=to, seen=seen)


def _citation(request: PersonRequest, own: OwnSheet) -> str:
    """Return the key of the citation that a write is about. Raises Gone.

    What it points to comes with it: a run file may have put another citation in its place since it was on screen.
    """
    key = request.POST.get("citation", "")
    if key in own.sheet.asked and own.docid(key) != request.POST.get("docid"):
        raise Gone(gettext("The answer got further citations meanwhile: nothing was saved, and it is shown anew."))
    return key


@require_POST
def sign_off(request: PersonRequest, task_id: int) -> HttpResponse:
    """End the topic."""
    return signed_off(request, own_judging(request.user, task_id), actions.sign_off)
