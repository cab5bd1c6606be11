"""The screen over HTTP. A write answers with the version that it made, or says why it was refused."""

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
from assessor.work.access import NotAmongOwn, require_running
from assessor.work.actions import note_opened
from assessor.work.models import Task
from assessor.work.queries import minutes
from assessor.work.write_protocol import BadWrite, Result, number, seconds, signed_off, writes_on
from assignment.actions import why_closed
from assignment.argue import actions, queries, screen
from assignment.argue.access import OwnSheet, organized_judging, own_judging, own_sheet, own_sheets
from nuggets.actions import see_nuggets

AT_HAND = 4  # reports in the page: what can be done without a connection, at the least
ON_A_PAGE = 10  # reports, for organizers
SCRIPTS = tuple(f"assay/{name}.js" for name in ("words", "outbox", "clock", "workbench", "argue"))


@require_safe
@ensure_csrf_cookie  # the page's own scripts write, whichever page the person came from
def argue(request: PersonRequest, task_id: int) -> HttpResponse:
    """The screen; for the campaign's organizers, what was said so far."""
    try:
        return _look(request, organized_judging(request.user, task_id))
    except Http404:
        return _work(request, own_judging(request.user, task_id))


@in_own_language
def _work(request: PersonRequest, task: Task) -> HttpResponse:
    require_running(task)
    note_opened(task)
    bank = queries.bank_of_task(task)
    see_nuggets(bank, acting_user=request.user)
    queue = screen.queue(task)
    context = {
        **workbench_context(task, SCRIPTS),
        "bank": bank,
        "closed": why_closed(task, bank),
        "questions": screen.questions(bank),
        "steps": screen.STEPS,
        "ticks": "123456789",
        "queue": to_json(queue),
        "replies": to_json(replies_on(task)),
        "answers": screen.shown(own_sheets(task, at_hand(queue, request.GET.get("answer", ""), AT_HAND))),
        "not_asked": screen.not_asked(task),
    }
    return render(request, "argue/judging.html", context)


def _look(request: PersonRequest, task: Task) -> HttpResponse:
    page = Paginator(queries.all_sheets(task), ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": task.campaign,
        "task": task,
        "page": page,
        "reports": queries.judged(page),
        "time": minutes(task.seconds),
    }
    return render(request, "argue/judged.html", context)


@require_safe
@in_own_language
def report(request: PersonRequest, task_id: int, sheet_id: int) -> HttpResponse:
    """One of the person's reports, with the documents that it cites and what they said."""
    try:
        own = own_sheet(request.user, task_id, sheet_id)
    except NotAmongOwn as error:
        raise Http404(str(error)) from error
    if own.sheet.out_of_scope:
        raise Http404("Nobody is asked about this report any more.")
    require_running(own.task)
    # Without the request: nothing that every page's frame asks for is in it.
    return HttpResponse(render_to_string("argue/_report.html", {"answer": screen.shown([own])[0]}))


def _standing(own: OwnSheet) -> dict[str, Any]:
    return {"edition": own.sheet.edition, "said": screen.said(own)}


write = writes_on(own_sheet, _standing)


@write
def label(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Say yes or no, or (label "") take back what was said; with what stood of items that follow from it."""
    given = request.POST.get("label")
    if given is None:
        raise BadWrite("There is no label.")
    others = _others(request) if "others" in request.POST else {}
    return actions.give_label(
        own, item=request.POST.get("item", ""), label=given, others=others, seconds=seconds(request), seen=seen
    )


@write
def answers(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Say of several gold answers at once whether the sentence states them."""
    return actions.give_labels(own, labels=_labels(request), seconds=seconds(request), seen=seen)


@write
def cannot(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Say why an item can't be judged."""
    item, reason = request.POST.get("item", ""), request.POST.get("reason", "")
    return actions.mark_unjudgeable(own, item=item, reason=reason, seconds=seconds(request), seen=seen)


@write
def flag(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Leave a note for the organizer on an item, or (note "") take it away."""
    return actions.flag(own, item=request.POST.get("item", ""), note=request.POST.get("note", ""), seen=seen)


@write
def later(request: PersonRequest, own: OwnSheet, seen: int) -> Result:
    """Put the report off to the end of the queue, or back to the place that is named."""
    to = number(request, "to") if "to" in request.POST else None
    return actions.put_off(own, to=to, seen=seen)


def _labels(request: PersonRequest) -> dict[str, str]:
    """Read labels by item's key. Raises BadWrite."""
    found: dict[str, str] = _by_item(request, "labels")
    if not _are_texts(found):
        raise BadWrite("labels must have a label for each item.")
    return found


def _others(request: PersonRequest) -> dict[str, dict[str, str]]:
    """Read what stood of items, by key. Raises BadWrite."""
    found: dict[str, dict[str, str]] = _by_item(request, "others")
    if not isinstance(found, dict) or not all(map(_are_texts, found.values())):
        raise BadWrite("others must say what stood of each item.")
    return found


def _by_item(request: PersonRequest, field: str) -> Any:
    try:
        return json.loads(request.POST.get(field, ""))
    except (ValueError, RecursionError) as error:
        raise BadWrite(f"{field} must be JSON.") from error


def _are_texts(found: Any) -> bool:
    return isinstance(found, dict) and all(isinstance(text, str) for text in found.values())


@require_POST
def sign_off(request: PersonRequest, task_id: int) -> HttpResponse:
    """End the topic."""
    return signed_off(request, own_judging(request.user, task_id), actions.sign_off)
