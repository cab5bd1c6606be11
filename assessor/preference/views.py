"""The screen over HTTP. A write answers with the version that it made, or says why it was refused."""

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
from assessor.preference import actions, queries, screen
from assessor.preference.access import OwnPair, organized_comparing, own_comparing, own_pair
from assessor.preference.verdicts import verdicts
from assessor.work.access import NotAmongOwn, require_running
from assessor.work.actions import note_opened
from assessor.work.models import Task
from assessor.work.queries import minutes
from assessor.work.write_protocol import BadWrite, Result, number, seconds, signed_off, writes_on

AT_HAND = 3  # pairs in the page: what can be done without a connection, at the least
ON_A_PAGE = 100  # pairs, for organizers
SCRIPTS = tuple(f"assay/{name}.js" for name in ("words", "outbox", "clock", "workbench", "preference"))


@require_safe
@ensure_csrf_cookie  # the page's own scripts write, whichever page the person came from
def preference(request: PersonRequest, task_id: int) -> HttpResponse:
    """The screen; for the campaign's organizers, what was said so far."""
    try:
        return _look(request, organized_comparing(request.user, task_id))
    except Http404:
        return _work(request, own_comparing(request.user, task_id))


@in_own_language
def _work(request: PersonRequest, task: Task) -> HttpResponse:
    require_running(task)
    note_opened(task)
    queue = screen.queue(task)
    pairs = screen.at_hand(task, at_hand(queue, request.GET.get("answer", ""), AT_HAND))
    context = {
        **workbench_context(task, SCRIPTS),
        "background": queries.background(task.topic),
        "closed": actions.why_closed(task),
        "queue": to_json(queue),
        "replies": to_json(replies_on(task)),
        "answers": screen.shown(pairs, task),
        "choices": [(one, screen.MEANINGS[one]) for one in verdicts(ties=task.condition.protocol.preference_ties)],
    }
    return render(request, "preference/comparing.html", context)


def _look(request: PersonRequest, task: Task) -> HttpResponse:
    page = Paginator(queries.pairs_of(task), ON_A_PAGE).get_page(request.GET.get("page"))
    context = {"campaign": task.campaign, "task": task, "page": page, "time": minutes(task.seconds)}
    return render(request, "preference/compared.html", context)


@require_safe
def answer(request: PersonRequest, task_id: int, sheet_id: int) -> HttpResponse:
    """One of the person's pairs, with what they said."""
    try:
        own = own_pair(request.user, task_id, sheet_id)
    except NotAmongOwn as error:
        raise Http404(str(error)) from error
    if not own.is_asked:
        raise Http404("Nobody is asked about these answers any more.")
    require_running(own.task)
    [shown] = screen.shown([own.sheet], own.task)
    # Without the request: nothing that every page's frame asks for is in it.
    return HttpResponse(render_to_string("preference/_pair.html", {"answer": shown}))


def _standing(own: OwnPair) -> dict[str, Any]:
    return {"said": screen.said(own.sheet)}


write = writes_on(own_pair, _standing)


@write
def label(request: PersonRequest, own: OwnPair, seen: int) -> Result:
    """Say which answer is better, or (label "") take back what was said."""
    given = request.POST.get("label")
    if given is None:
        raise BadWrite("There is no label.")
    return actions.compare(own, verdict=given, seconds=seconds(request), seen=seen)


@write
def cannot(request: PersonRequest, own: OwnPair, seen: int) -> Result:
    """Say why two answers can't be compared."""
    reason = request.POST.get("reason", "")
    return actions.mark_unjudgeable(own, reason=reason, seconds=seconds(request), seen=seen)


@write
def flag(request: PersonRequest, own: OwnPair, seen: int) -> Result:
    """Leave a note for the organizer on a pair, or (note "") take it away."""
    return actions.flag(own, note=request.POST.get("note", ""), seen=seen)


@write
def later(request: PersonRequest, own: OwnPair, seen: int) -> Result:
    """Put the pair off to the end of the queue, or back to the place that is named."""
    to = number(request, "to") if "to" in request.POST else None
    return actions.put_off(own, to=to, seen=seen)


@require_POST
def sign_off(request: PersonRequest, task_id: int) -> HttpResponse:
    """End the topic."""
    return signed_off(request, own_comparing(request.user, task_id), actions.sign_off)
