"""Jobs: launched with an estimate, followed, paused, resumed, cancelled, tried again."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.llm import actions, queries
from assessor.llm.access import campaign_job
from assessor.llm.actions import JobError
from assessor.llm.forms import BudgetForm, LaunchForm
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job

_JOBS, _FAILED = 50, 100  # on a page


@require_safe
def jobs(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    page = Paginator(queries.jobs_of(campaign), _JOBS).get_page(request.GET.get("page"))
    return render(request, "llm/jobs.html", {"campaign": campaign, "page": page})


@require_http_methods(["GET", "POST"])
def launch(request: PersonRequest, slug: str) -> HttpResponse:
    """The form; first it shows what the job will take, then, asked to, it launches it."""
    campaign = organized_campaign(request.user, slug)
    form = LaunchForm(campaign, request.POST or None)
    plan = None
    if request.method == "POST" and form.is_valid():
        wanted = form.cleaned_data
        try:
            plan = actions.plan_job(
                kind=job_kind_named(wanted["kind"]),
                judge=wanted["judge"],
                name=wanted["name"],
                qrels_source=wanted["qrels_source"],
                min_relevant_grade=wanted["min_relevant_grade"],
                topics=wanted["chosen"],
                nuggets=wanted["nuggets"],
                replicate=wanted["replicate"] or 0,
            )
            if "launch" in request.POST:
                job = actions.launch(
                    plan,
                    most_calls=wanted["most_calls"],
                    most_cost=wanted["most_cost"],
                    acting_user=request.user,
                )
                return redirect("job", slug, job.pk)
        except JobError as error:
            form.add_error(None, str(error))
    return render(request, "llm/launch.html", {"campaign": campaign, "form": form, "plan": plan})


@require_safe
def job(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    """Progress while it runs (htmx asks again each second), what it took, and what failed."""
    campaign = organized_campaign(request.user, slug)
    job = campaign_job(campaign, job_id)
    context = {"campaign": campaign, "job": job, "pace": queries.pace(job), "reasons": queries.reasons(job)}
    context["notes"] = queries.notes(job)
    if request.htmx:
        return render(request, "llm/job.html#progress", context)
    more = {"budget": BudgetForm(instance=job), "outcomes": queries.outcomes(job), "runners": job.runners.all()}
    return render(request, "llm/job.html", context | more)


@require_safe
def failures(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    job = campaign_job(campaign, job_id)
    page = Paginator(queries.failed_units(job), _FAILED).get_page(request.GET.get("page"))
    rows = queries.with_items(job, page)
    return render(request, "llm/failures.html", {"campaign": campaign, "job": job, "page": page, "rows": rows})


def _change(request: PersonRequest, slug: str, job_id: int, action: Callable[..., Any], done: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    job: Job = campaign_job(campaign, job_id)
    try:
        action(job=job, acting_user=request.user)
    except JobError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
    return redirect("job", slug, job_id)


@require_POST
def pause(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    return _change(request, slug, job_id, actions.pause, "Paused: what is in flight comes back and is kept.")


@require_POST
def resume(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    return _change(request, slug, job_id, actions.resume, "It goes on as soon as a worker is free.")


@require_POST
def cancel(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    return _change(request, slug, job_id, actions.cancel, "Cancelled. What was done is kept.")


@require_POST
def retry(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    return _change(request, slug, job_id, actions.retry_failed, "The failed units are done again.")


@require_POST
def budget(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    job = campaign_job(campaign, job_id)
    form = BudgetForm(request.POST, instance=campaign_job(campaign, job_id))
    if form.is_valid():
        actions.change_budget(job=job, **form.cleaned_data, acting_user=request.user)
        messages.success(request, "The budget is changed. A job that runs takes it up when it is paused and resumed.")
    else:
        messages.error(request, "A budget is a number above 0, or empty.")
    return redirect("job", slug, job_id)
