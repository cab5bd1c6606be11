"""The plan: which topics, under which condition, for whom."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from assessor.collection.access import organized_campaign
from assessor.collection.http import PersonRequest
from assessor.desk import queries
from assessor.desk.forms import PlanForm
from assessor.work.actions import PlanError, give_tasks, withdraw_task

_TOPICS = 100  # on a page


@require_http_methods(["GET", "POST"])
def plan(request: PersonRequest, slug: str) -> HttpResponse:
    """The table of topics; a POST gives the chosen ones to a person, all or none."""
    campaign = organized_campaign(request.user, slug)
    form = PlanForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        try:
            tasks = give_tasks(
                campaign=campaign,
                topics=list(chosen["topics"]),
                condition=chosen["condition"],
                person=chosen["person"],
                acting_user=request.user,
                reason=chosen["reason"],
            )
        except PlanError as error:
            form.add_error(None, str(error))
        else:
            topics = f"{len(tasks)} topic{'s' if len(tasks) > 1 else ''}"
            messages.success(request, f"{chosen['person']} has {topics} under {chosen['condition']}.")
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
    return redirect(f"{reverse('plan', args=[slug])}?page={request.GET.get('page', 1)}")
