"""The blind screen over HTTP. A write answers with the version that it made, or says why it was refused."""

import json
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
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
from assessor.work.write_protocol import BadWrite, Result, number, seconds, signed_off, writes_on
from assignment import actions, queries, screen
from assignment.access import OwnSheet, organized_assignment, own_assignment, own_sheet, own_sheets
from assignment.label_kind import kind_of_nuggets
from nuggets.actions import see_nuggets
from nuggets.models import NuggetBank

AT_HAND = 5  # answers in the page: what can be done without a connection, at the least
ON_A_PAGE = 10  # answers, for organizers
SCRIPTS = tuple(f"assay/{name}.js" for name in ("words", "outbox", "clock", "passages", "workbench", "assignment"))


@require_safe
@ensure_csrf_cookie  # the page's own scripts write, whichever page the person came from
def assignment(request: PersonRequest, task_id: int) -> HttpResponse:
    """The screen; for the campaign's organizers, what was said so far."""
    try:
        return _look(request, organized_assignment(request.user, task_id))
    except Http404:
        return _work(request, own_assignment(request.user, task_id))


@in_own_language
def _work(request: PersonRequest, task: Task) -> HttpResponse:
    require_running(task)
    note_opened(task)
    bank, kind = queries.bank_of(task), kind_of_nuggets(task)
    see_nuggets(bank, acting_user=request.user)
    see_labels(task)
    queue = screen.queue(task, bank)
    is_maker = bank.task is not None and bank.task.person_id == request.user.pk
    context = {
        **workbench_context(task, SCRIPTS),
        "bank": bank,
        "is_maker": is_maker,
        "is_reopened": bank.state == NuggetBank.State.OPEN,
        "closed": actions.why_closed(task, bank),
        "nuggets": screen.rows(bank, with_notes=is_maker),
        "queue": to_json(queue),
        "replies": to_json(replies_on(task)),
        "answers": screen.shown(own_sheets(task, at_hand(queue, request.GET.get("answer", ""), AT_HAND))),
        "by_rule": screen.by_rule(task, bank),
        "waiting": screen.waiting_for_model(task, bank),
        "kind": kind,
        "choices": kind.choices,
    }
    return render(request, "assignment/labelling.html", context)


def _look(request: PersonRequest, task: Task) -> HttpResponse:
    bank = queries.bank_of(task)
    page = Paginator(queries.all_sheets(task), ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": task.campaign,
        "task": task,
        "bank": bank,
        "page": page,
        "answers": queries.labelled(page),
        "waiting": screen.waiting_for_model(task, bank),
        "kind": kind_of_nuggets(task),
        "time": minutes(task.seconds),
    }
    return render(request, "assignment/labelled.html", context)


@require_safe
@in_own_language
def answer(request: PersonRequest, task_id: int, sheet_id: int) -> HttpResponse:
    """One of the person's answers, with what they said of it."""
    try:
        own = own_sheet(request.user, task_id, sheet_id)
    except NotAmongOwn as error:
        raise Http404(str(error)) from error
    if own.sheet.out_of_scope:
        raise Http404("Nobody is asked about this answer any more.")
    if own.is_waiting:
        raise Http404("This answer waits for the model's labels.")
    require_running(own.task)
    if own.is_adjudicated:
        see_labels(own.task)
    # Without the request: nothing that every page's frame asks for is in it.
    return HttpResponse(render_to_string("assignment/_answer.html", {"answer": screen.shown([own])[0]}))


@require_safe
@in_own_language
def nugget(request: PersonRequest, task_id: int, nugget_id: int) -> HttpResponse:
    """One nugget across the person's answers that they have labelled so far."""
    task = own_assignment(request.user, task_id)
    bank = queries.bank_of(task)
    found = [row for row in screen.rows(bank, with_notes=False) if row.id == nugget_id]
    if not found:
        raise Http404(f"There is no such {kind_of_nuggets(task).item} among yours.")
    see_nuggets(bank, acting_user=request.user)
    context = {"task": task, "nugget": found[0], "answers": screen.across(task, bank, nugget_id)}
    return HttpResponse(render_to_string("assignment/_nugget.html", context))


def _standing(own: OwnSheet) -> dict[str, Any]:
    return {"edition": own.sheet.edition, "said": screen.said(own)}


write = writes_on(own_sheet, _standing)


@write
def label(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Say how far the answer captures a nugget, or (label "") take back what was said."""
    given = request.POST.get("label")
    if given is None:
        raise BadWrite("There is no label.")
    return actions.give_label(own, nugget=number(request, "nugget"), label=given, seconds=seconds(request), seen=seen)


@write
def cannot(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Say why a nugget can't be judged in this answer."""
    nugget_id, reason = number(request, "nugget"), request.POST.get("reason", "")
    return actions.mark_unjudgeable(own, nugget=nugget_id, reason=reason, seconds=seconds(request), seen=seen)


@write
def flag(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Leave a note for the organizer on a nugget in this answer, or (note "") take it away."""
    return actions.flag(own, nugget=number(request, "nugget"), note=request.POST.get("note", ""), seen=seen)


@write
def mark(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Keep which words of the answer carry a nugget."""
    try:
        marks = json.loads(request.POST.get("marks", ""))
    except (ValueError, RecursionError) as error:
        raise BadWrite("marks must be JSON.") from error
    return actions.mark_words(own, nugget=number(request, "nugget"), marks=marks, seen=seen)


@write
def show(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Tell the model's label of the nugget that is on screen now."""
    return actions.show(own, nugget=number(request, "nugget"), seen=seen)


@write
def later(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Put the answer off to the end of the queue, or back to the place that is named."""
    to = number(request, "to") if "to" in request.POST else None
    return actions.put_off(own, to=to, seen=seen)


@require_POST
def sign_off(request: PersonRequest, task_id: int) -> HttpResponse:
    """End the topic."""
    return signed_off(request, own_assignment(request.user, task_id), actions.sign_off)
