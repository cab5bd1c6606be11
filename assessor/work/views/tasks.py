"""The clock of active time, and drawing the next topic."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from assessor.accounts.languages import in_own_language
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.http import PersonRequest
from assessor.work.access import own_task
from assessor.work.actions import PlanError, draw_next, record_time
from assessor.work.queries import minutes, queues_of


@require_POST
@in_own_language
def draw(request: PersonRequest, condition_id: int) -> HttpResponse:
    """Go to the topic that the person drew from a queue and has not finished, else to the next one, drawn now."""
    condition = get_object_or_404(queues_of(request.user), pk=condition_id)
    try:
        task = draw_next(condition=condition, person=request.user)
    except PlanError as error:
        messages.info(request, str(error))
        return redirect("home")
    return redirect(kind_of(task).url(task))


@require_POST
@in_own_language
def time_spent(request: PersonRequest, task_id: int) -> HttpResponse:
    """Add active seconds to one's own task, and say how much it is now."""
    task = own_task(request.user, task_id)
    try:
        key, seconds = UUID(request.POST["key"]), int(request.POST["seconds"])
    except (KeyError, ValueError):
        return HttpResponse("A report of time needs a key (UUID) and seconds.", status=400)
    if seconds < 1:
        return HttpResponse("seconds must be at least 1.", status=400)
    record_time(task=task, key=key, seconds=seconds)
    task.refresh_from_db(fields=["seconds"])
    return HttpResponse(minutes(task.seconds))
