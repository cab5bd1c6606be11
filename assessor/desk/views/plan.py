"""The plan: which topics, under which condition, for whom."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from assessor.collection.access import organized_campaign
from assessor.collection.http import PersonRequest
from assessor.collection.models import Campaign, Condition, Person, Topic
from assessor.desk import queries
from assessor.desk.forms import PlanForm
from assessor.work.actions import PlanError, give_tasks, put_in_queue, take_out_of_queue, withdraw_task
from assessor.work.models import Waiting

_TOPICS = 100  # on a page


@require_http_methods(["GET", "POST"])
def plan(request: PersonRequest, slug: str) -> HttpResponse:
    """The table of topics; a POST gives the chosen ones to a person or to whoever draws them, all or none."""
    campaign = organized_campaign(request.user, slug)
    form = PlanForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            messages.success(request, _give(campaign, request.user, **form.cleaned_data))
        except PlanError as error:
            form.add_error(None, str(error))
        else:
            return redirect(request.get_full_path())
    page = Paginator(campaign.topics.order_by("qid"), _TOPICS).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
        "form": form,
        "page": page,
        "rows": queries.plan(campaign, page),
        "chosen": set(request.POST.getlist("topics")),
    }
    return render(request, "desk/plan.html", context)


def _give(
    campaign: Campaign,
    acting_user: Person,
    *,
    topics: Iterable[Topic],
    condition: Condition,
    person: Person | None,
    reason: str,
) -> str:
    """Give topics to a person, or None: to whoever draws them; return what was done, in words. Raises PlanError."""
    by: dict[str, Any] = {"condition": condition, "acting_user": acting_user, "reason": reason}
    chosen = list(topics)
    several = f"{len(chosen)} topic{'s' if len(chosen) > 1 else ''}"
    if person is None:
        put_in_queue(topics=chosen, **by)
        return f"For whoever draws them: {several} under {condition}."
    give_tasks(campaign=campaign, topics=chosen, person=person, **by)
    return f"{person} has {several} under {condition}."


@require_POST
def take_out(request: PersonRequest, slug: str, waiting_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    in_campaign = Waiting.objects.filter(condition__campaign=campaign).select_related("condition", "topic")
    waiting = in_campaign.filter(pk=waiting_id).first()
    if waiting is None:
        raise Http404("There is no such topic in a queue of this campaign.")
    try:
        take_out_of_queue(waiting=waiting, acting_user=request.user)
    except PlanError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Nobody can draw {waiting} any more.")
    return _back(request, slug)


@require_POST
def withdraw(request: PersonRequest, slug: str, task_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    task = campaign.tasks.select_related("campaign", "topic", "person").filter(pk=task_id).first()
    if task is None:
        raise Http404("There is no such task in this campaign.")
    try:
        withdraw_task(task=task, acting_user=request.user)
    except PlanError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Withdrawn: {task}. What was done is kept.")
    return _back(request, slug)


def _back(request: PersonRequest, slug: str) -> HttpResponse:
    return redirect(f"{reverse('plan', args=[slug])}?page={request.GET.get('page', 1)}")
