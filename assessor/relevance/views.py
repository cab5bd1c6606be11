"""The grading screen over HTTP: passages are judged as answers are, one item each.

A queue's passages come as they are drawn: the page asks for more once few are left.
"""

from collections.abc import Callable

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext_noop
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from assessor.accounts.languages import in_own_language
from assessor.campaigns.http import PersonRequest
from assessor.formats.values import to_json
from assessor.labels.workbench import workbench_context
from assessor.relevance import actions, queries
from assessor.relevance.access import (
    OwnPassage,
    organized_passages,
    own_grading,
    own_passage,
    own_passages,
    shown_passage,
)
from assessor.relevance.leases import at_hand
from assessor.work.access import NotAmongOwn, require_running
from assessor.work.actions import note_opened
from assessor.work.models import Task
from assessor.work.queries import minutes
from assessor.work.write_protocol import BadWrite, Result, number, ours, refused, seconds, writes_on

# What each grade means, as the guidelines have it, by the highest of its scale.
MEANINGS = {
    3: (
        gettext_noop("nothing to do with the query"),
        gettext_noop("related, but does not answer it"),
        gettext_noop("some answer, but unclear or hidden among other matter"),
        gettext_noop("dedicated to the query, holds the exact answer"),
    ),
    4: (
        gettext_noop("nothing to do with the query"),
        gettext_noop("related, but does not answer it"),
        gettext_noop("answers a small part of it, or hardly"),
        gettext_noop("answers much of it, but not all, or among other matter"),
        gettext_noop("dedicated to the query, answers all of it"),
    ),
}
SCRIPTS = tuple(f"assay/{name}.js" for name in ("words", "outbox", "clock", "workbench", "relevance"))


@require_safe
@ensure_csrf_cookie  # the page's own scripts write, whichever page the person came from
def relevance(request: PersonRequest, task_id: int) -> HttpResponse:
    """The screen; for the campaign's organizers, what was said so far."""
    try:
        return _look(request, organized_passages(request.user, task_id))
    except Http404:
        return _work(request, own_passages(request.user, task_id))


@in_own_language
def _work(request: PersonRequest, task: Task) -> HttpResponse:
    require_running(task)
    note_opened(task)
    context = {
        **_at_hand(task),
        **workbench_context(task, SCRIPTS),
        # What is finished can be read; who is not blind any more changes nothing there.
        "closed": task.not_blind or "",
        "replies": to_json(queries.replies(task)),
        "choices": list(enumerate(MEANINGS[task.condition.max_grade])),
        "from_queue": task.condition.manual_setup.from_queue,
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
    """Return the passages at hand, the present one first, the person's queue, and how far the topic is."""
    task.refresh_from_db(fields=["state"])
    items = at_hand(task)
    progress = queries.progress(task)
    return {
        "task": task,
        "answers": queries.passages(task, items),
        "queue": to_json(queries.queue(task, items)),
        "progress": progress,
        "judged": queries.looked_back(task) if progress.is_over else [],
        "next_task": None if items else queries.next_task(task),
    }


@require_safe
@in_own_language
def passage(request: PersonRequest, task_id: int, passage_id: int) -> HttpResponse:
    """A passage that the person has judged or can judge, with what they said of it."""
    try:
        own = shown_passage(request.user, task_id, passage_id)
    except NotAmongOwn as error:
        raise Http404(str(error)) from error
    require_running(own.task)
    answers = queries.passages(own.task, [own.sheet])
    if not answers:
        raise Http404("The text of this passage is not loaded any more.")
    # Without the request: nothing that every page's frame asks for is in it.
    return HttpResponse(render_to_string("relevance/_passage.html", {"answer": answers[0]}))


@require_POST
@in_own_language
def draw(request: PersonRequest, task_id: int) -> HttpResponse:
    """Say that the person is still at it, which renews their leases, and what is at hand now."""
    task = own_grading(request.user, task_id)
    return HttpResponse(render_to_string("relevance/_at_hand.html", {"user": request.user, **_at_hand(task)}))


def _standing(own: OwnPassage) -> dict[str, object]:
    return {"said": queries.said(own.sheet, own.task)}


_on_passage = writes_on(own_passage, _standing)


def write(carry_out: Callable[[PersonRequest, OwnPassage, int], Result]) -> Callable[..., HttpResponse]:
    """Return a view of a write on a passage, which the request names: answered as those on answers are."""
    on_passage = _on_passage(carry_out)

    @require_POST
    def view(request: PersonRequest, task_id: int) -> HttpResponse:
        try:
            passage_id = number(request, "item")
        except BadWrite as error:
            own_grading(request.user, task_id)
            return ours(refused(400, error))
        return on_passage(request, task_id, passage_id)

    return view


@write
def judge(request: PersonRequest, own: OwnPassage, seen: int) -> Result:
    """Grade a passage, or say why it can't be judged."""
    return actions.judge(
        own.task,
        item=own.sheet,
        grade=number(request, "grade") if "grade" in request.POST else None,
        reason=request.POST.get("reason", ""),
        seconds=seconds(request),
        acting_user=request.user,
        seen=seen,
    )


@write
def undo(request: PersonRequest, own: OwnPassage, seen: int) -> Result:
    """Take back what the person said of a passage."""
    return actions.undo(own.task, item=own.sheet, acting_user=request.user, seen=seen)


@write
def show(request: PersonRequest, own: OwnPassage, seen: int) -> Result:
    """Tell the model's grade of the passage that is on screen now."""
    return actions.show(own.task, item=own.sheet, acting_user=request.user, seen=seen)
