"""The grading screen over HTTP. A grade is answered with numbers: the page has the next passages, and asks for more.

An undo is answered with the passages that are at hand then, as is what was refused because something came first.
"""

import json
from collections.abc import Callable, Mapping

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from assessor.collection.http import PersonRequest
from assessor.relevance import actions, queries
from assessor.relevance.access import organized_passages, own_grading, own_passages
from assessor.relevance.leases import GIVEN, at_hand
from assessor.work.access import require_running
from assessor.work.actions import note_opened
from assessor.work.instructing import shown_guidelines
from assessor.work.models import MAX_REASON, Task
from assessor.work.queries import minutes, place
from assessor.work.saves import ours, refused, seconds
from assessor.work.writes import BadWrite, Closed, Result, Sent, Stale, number, once, sent

# What each grade means, as the guidelines have it, by the highest of its scale.
MEANINGS = {
    3: (
        "nothing to do with the query",
        "related, but does not answer it",
        "some answer, but unclear or hidden among other matter",
        "dedicated to the query, holds the exact answer",
    ),
    4: (
        "nothing to do with the query",
        "related, but does not answer it",
        "answers a small part of it, or hardly",
        "answers much of it, but not all, or among other matter",
        "dedicated to the query, answers all of it",
    ),
}
UNDOABLE = 50  # undos that can be made while the server does not answer
SCRIPTS = ("assay/outbox.js", "assay/refused.js", "assay/clock.js", "assay/relevance.js")


@require_safe
@ensure_csrf_cookie  # the page's own scripts write, whichever page the person came from
def relevance(request: PersonRequest, task_id: int) -> HttpResponse:
    """The screen; for the campaign's organizers, what was said so far."""
    try:
        return _look(request, organized_passages(request.user, task_id))
    except Http404:
        task = own_passages(request.user, task_id)
    require_running(task)
    note_opened(task)
    context = {
        **_at_hand(task),
        "choices": list(enumerate(MEANINGS[task.condition.max_grade])),
        "drawn": task.condition.relevance_sheet.drawn,
        "max_reason": MAX_REASON,
        "scripts": SCRIPTS,
        "guidelines": shown_guidelines(task.campaign_id, task.kind, task.guidelines_version),
        "place": place(task),
        "time": minutes(task.seconds),
    }
    return render(request, "relevance/grading.html", context)


def _look(request: PersonRequest, task: Task) -> HttpResponse:
    context = {
        "campaign": task.campaign,
        "task": task,
        "judged": queries.judged(task),
        "progress": queries.progress(task),
        "time": minutes(task.seconds),
    }
    return render(request, "relevance/judged.html", context)


def _at_hand(task: Task) -> dict[str, object]:
    """Return the passages at hand, the present one first, and how far the topic is."""
    task.refresh_from_db(fields=["state"])
    # Before the passages: a judgment between the two is then refused as stale, and not taken for one's own second one.
    version = queries.version_of(task)
    at = queries.passages(task, at_hand(task))
    progress = queries.progress(task)
    return {
        "task": task,
        "passages": at,
        "more": len(at) == GIVEN,  # of a topic of one's own; a queue's are always fewer
        "progress": progress,
        "version": version,
        "judged": queries.looked_back(task) if progress.is_over else [],
        "undoable": queries.judged(task).values_list("pk", flat=True)[:UNDOABLE],
        "next_task": None if at else queries.next_task(task),
    }


def _passages(task: Task, *, status: int = 200, said: Mapping[int, str] | None = None) -> HttpResponse:
    context = _at_hand(task) | {"said": json.dumps(said or {})}
    # Without the request: this is no page, and needs nothing of what every page has.
    return HttpResponse(render_to_string("relevance/grading.html#passages", context), status=status)


@require_POST
def judge(request: PersonRequest, task_id: int) -> HttpResponse:
    """Grade a passage, or say why it can't be judged. Answered with the version and how far the topic is."""

    def carry_out(task: Task, asked: Sent) -> Result:
        return actions.judge(
            task,
            item_id=number(request, "item"),
            grade=number(request, "grade") if "grade" in request.POST else None,
            reason=request.POST.get("reason", ""),
            seconds=seconds(request),
            acting_user=request.user,
            seen=asked.seen,
        )

    return _write(request, task_id, carry_out, lambda task, result: JsonResponse(result))


@require_POST
def undo(request: PersonRequest, task_id: int) -> HttpResponse:
    """Take back what was said last, of the passage that the person means. Answered with what is at hand then."""

    def carry_out(task: Task, asked: Sent) -> Result:
        return actions.undo(task, item_id=number(request, "item"), acting_user=request.user, seen=asked.seen)

    def answer(task: Task, result: Result) -> HttpResponse:
        response = _passages(task)
        # The version that this very write made: there may have been others since, unseen by who sends a write again.
        response["X-Assay-Version"] = str(result["version"])
        return response

    return _write(request, task_id, carry_out, answer)


CarryOut = Callable[[Task, Sent], Result]
Answer = Callable[[Task, Result], HttpResponse]


def _write(request: PersonRequest, task_id: int, carry_out: CarryOut, answer: Answer) -> HttpResponse:
    """Carry out a write on a person's own task, once.

    200: done, now or the first time this key was sent. 409: other judgments came first; what the person said since the
    version that they saw comes with the passages. 410: the passage is somebody else's by now. 400: the request itself
    is wrong.
    """
    return ours(_carried_out(request, own_grading(request.user, task_id), carry_out, answer))


def _carried_out(request: PersonRequest, task: Task, carry_out: CarryOut, answer: Answer) -> HttpResponse:
    try:
        asked = sent(request)
        return answer(task, once(task, asked, lambda: carry_out(task, asked)))
    except BadWrite as error:
        return refused(400, error)
    except actions.Gone as error:
        return refused(410, error)
    except (Stale, Closed):
        return _passages(task, status=409, said=queries.said_since(task, asked.seen))


@require_POST
def draw(request: PersonRequest, task_id: int) -> HttpResponse:
    """Say that the person is still at it, which renews their leases, and what is at hand now."""
    return _passages(own_grading(request.user, task_id))


@require_POST
def show(request: PersonRequest, task_id: int) -> HttpResponse:
    """Tell the model's grade of the passage that is on screen now."""
    task = own_grading(request.user, task_id)
    try:
        grade = actions.show(task, item_id=number(request, "item"), acting_user=request.user)
    except BadWrite as error:
        return refused(400, error)
    except actions.Gone as error:
        return refused(410, error)
    return JsonResponse({"grade": grade})
