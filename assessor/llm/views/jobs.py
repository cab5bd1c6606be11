"""Jobs: launched with an estimate, followed, paused, resumed, cancelled, tried again."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.condition_kind import kind_named, kind_of
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign, Condition
from assessor.llm import actions, queries
from assessor.llm.access import campaign_job
from assessor.llm.actions import JobError
from assessor.llm.forms import BudgetForm, LaunchForm
from assessor.llm.job_kind import Grades, JobKind, launched_kinds
from assessor.llm.models import Job, Unit
from assessor.llm.named_models import named_models
from assessor.llm.topic_picker import Picker, picker

_JOBS, _FAILED, _BATCHES = 50, 50, 50  # on a page
_BUILT_ON = (
    "nuggets",
    "other_nuggets",
    "support",
    "preferences",
    "qrels_source",
    "min_relevant_grade",
    "retrieval_run",
)  # of a new condition
_SELECT = (("ready", "all that are ready"), ("new", "not labelled"), ("none", "none"))


@require_safe
def jobs(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    page = Paginator(queries.jobs_of(campaign), _JOBS).get_page(request.GET.get("page"))
    return render(request, "llm/jobs.html", {"campaign": campaign, "page": page})


@require_http_methods(["GET", "POST"])
def launch(request: PersonRequest, slug: str) -> HttpResponse:
    """The form of a kind of job with what it will take, which htmx asks for as it changes; then the launch."""
    campaign = organized_campaign(request.user, slug)
    kinds = sorted(launched_kinds().values(), key=lambda one: not kind_named(one.condition_kind).makes_grades)
    wanted = request.POST.get("kind") or request.GET.get("kind", "")
    kind = next((one for one in kinds if one.name == wanted), None)
    kind = kind or _by_nuggets(campaign, kinds, request.GET.get("nuggets", "")) or _first_lacking(campaign, kinds)
    form = LaunchForm(campaign, kind, request.POST or None, initial=request.GET.dict())
    is_valid = form.is_valid()
    topics = _topics(campaign, kind, form, request.POST)
    context: dict[str, Any] = {"campaign": campaign, "form": form, "kind": kind}
    context["usual"] = [one for one in kinds if kind_named(one.condition_kind).is_in_every_study]
    context["further"] = [one for one in kinds if one not in context["usual"]]
    context |= {"picker": topics, "select": _SELECT}
    needed = {"nuggets", "other_nuggets", "support", "preferences"}
    needed |= set() if _choice(form, "retrieval_run") else {"qrels_source"}
    builds_on = [field for field in form.builds_on() if field.name in needed]
    context["unset"] = [field.label.lower() for field in builds_on if _choice(form, field.name) is None]
    if is_valid:
        try:
            plan = _plan(kind, form, topics)
            if "launch" in request.POST:
                budget = {name: form.cleaned_data[name] for name in ("most_calls", "most_cost")}
                job = actions.launch(plan, **budget, acting_user=request.user)
                return redirect("job", slug, job.pk)
            if topics.is_all_done and not plan.expected.calls:
                context["is_done"] = True
            else:
                context |= {"plan": plan, "seconds": queries.seconds_for(plan.judge, plan.expected)}
        except JobError as error:
            form.add_error(None, str(error))
    return render(request, "llm/launch.html#job" if request.htmx else "llm/launch.html", context)


def _by_nuggets(campaign: Campaign, kinds: Sequence[JobKind], key: str) -> JobKind | None:
    """Return the first kind of job that takes the nuggets of the condition with this key, if there is one."""
    conditions = campaign.conditions.in_bulk() if key else {}
    made = next((one for pk, one in conditions.items() if str(pk) == key), None)
    return next((one for one in kinds if made and made.kind in one.builds_on), None)


def _first_lacking(campaign: Campaign, kinds: Sequence[JobKind]) -> JobKind:
    """Return the first kind of job that was not launched yet; grades of any source are enough to go on."""
    launched = campaign.jobs.exclude(state=Job.State.CANCELLED).order_by()
    has = set(launched.values_list("condition__kind", "condition__method").distinct())
    has_grades = campaign.qrels_sources.exists()
    for one in kinds:
        makes_grades = kind_named(one.condition_kind).makes_grades
        if not (has_grades if makes_grades else (one.condition_kind, one.method) in has):
            return one
    return kinds[0]


def _topics(campaign: Campaign, kind: JobKind, form: LaunchForm, sent: QueryDict) -> Picker:
    """Return the topics with what the job would find on them, as far as the form says what it builds on."""
    condition = Condition(
        campaign=campaign,
        kind=kind.condition_kind,
        method=kind.method,
        protocol=campaign.protocol,
        **{name: _choice(form, name) for name in _BUILT_ON},
    )
    pasted = form.cleaned_data.get("pasted", []) if form.is_bound else []
    if judge := _choice(form, "judge"):
        with suppress(JobError):  # it is told with the estimate
            condition, _ = actions.find_condition(
                kind=kind,
                judge=judge,
                name="",
                **{name: getattr(condition, name) for name in _BUILT_ON},
                replicate=_choice(form, "replicate") or 0,
            )
    return picker(kind, condition, list(campaign.topics.order_by("qid")), sent, pasted)


def _choice(form: LaunchForm, name: str) -> Any:
    """Return what a form has in a field, sent or to begin with; None where that can't be."""
    if name not in form.fields:
        return None
    if form.is_bound:
        return form.cleaned_data.get(name)
    try:
        return form.fields[name].clean(form.get_initial_for_field(form.fields[name], name))
    except ValidationError:
        return None


def _plan(kind: JobKind, form: LaunchForm, topics: Picker) -> actions.Plan:
    """Say what the job of a form will take. Raises JobError."""
    wanted = form.cleaned_data
    builds_on: dict[str, Any] = {name: wanted.get(name) for name in _BUILT_ON}
    return actions.plan_job(
        kind=kind,
        judge=wanted["judge"],
        name=wanted["name"],
        topics=topics.selected,
        replicate=wanted["replicate"] or 0,
        mode=Job.Mode(wanted["mode"] or Job.Mode.LIVE),
        **builds_on,
    )


class Step(NamedTuple):
    """What can follow a job that is done, and where."""

    label: str
    address: str


def _next_steps(job: Job) -> list[Step]:
    """Return what can be done with what a finished job has made."""
    campaign, condition, kind = job.campaign.slug, job.condition, kind_of(job.condition)
    if condition.is_control:
        return [Step("See the control sets", reverse("control_sets", args=[campaign]))]
    steps = []
    if kind.scoring():
        scores = f"{reverse('scores', args=[campaign])}?condition={condition.pk}"
        steps = [Step("See the scores", scores), Step("Compare with people", _compare(job))]
    elif kind.results:
        label, page = kind.results
        steps = [Step(label, reverse(page, args=[campaign, condition.pk]))]
    elif section := kind.runs_section(job.campaign):
        steps = [Step(section.offer, f"{reverse('runs', args=[campaign])}#{section.anchor}")]
    if condition.is_by_people:
        steps = [Step("Give the drafts to people", reverse("plan", args=[campaign]))]
    else:
        new = reverse("launch_job", args=[campaign])
        steps += [
            Step(f"{other.title} with these", f"{new}?kind={other.name}&{basis}={pk}")
            for other in launched_kinds().values()
            for basis, pk in [_basis(other, condition)]
            if basis
        ]
    return [*steps, Step("Freeze", reverse("frozen_condition", args=[campaign, condition.pk]))]


def _compare(job: Job) -> str:
    """Return where its condition is compared, with the first of people's labels of the same as the reference."""
    condition, page = job.condition, reverse("comparisons", args=[job.campaign.slug])
    same = job.campaign.conditions.filter(kind=condition.kind, nuggets=condition.nuggets_id, sample="").order_by("pk")
    reference = next((one for one in same.select_related("judge") if not one.is_a_models), None)
    sides = {"first": f"Condition-{reference.pk}"} if reference else {}
    return f"{page}?{urlencode(sides | {'second': f'Condition-{condition.pk}'})}"


def _basis(kind: JobKind, condition: Condition) -> tuple[str, int]:
    """Return the field of a new job that can name a condition, and what it is then; "" where there is none."""
    if condition.kind in kind.builds_on:
        return "nuggets", condition.pk
    if condition.kind == kind.support:
        return "support", condition.pk
    if condition.kind == kind.preferences:
        return "preferences", condition.pk
    source = condition.grades_made if kind_of(condition).makes_grades and hasattr(condition, "grades_made") else None
    return ("qrels_source", source.pk) if source and kind.grades == Grades.ANY else ("", 0)


@require_safe
def job(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    """Progress while it runs (htmx asks again every other second), what it took, what failed, what came back."""
    campaign = organized_campaign(request.user, slug)
    job = campaign_job(campaign, job_id)
    if request.htmx and request.GET.get("state") != job.state:
        return HttpResponseClientRefresh()
    context: dict[str, Any] = {
        "campaign": campaign,
        "job": job,
        "bar": queries.bar(job),
        "pace": queries.pace(job),
        "rate": queries.rate(job),
        "replies": queries.latest_replies(job),
        "batches": queries.batches_of(job, _BATCHES),
        "deferred": job.units.filter(state=Unit.State.DEFERRED).count(),
    }
    if request.htmx:
        return render(request, "llm/job.html#live", context)
    reason = request.GET.get("reason", "")
    failed = Paginator(queries.failed_units(job, reason), _FAILED).get_page(request.GET.get("page"))
    latest = [reply.call for reply in context["replies"]]
    call = queries.call_of(job, request.GET.get("call", "")) or next(iter(latest), None)
    context |= {
        "kind": kind_of(job.condition),
        "reasons": queries.reasons(job),
        "reason": reason,
        "page": failed,
        "failed": queries.with_items(job, failed),
        "notes": queries.notes(job),
        "models": named_models(job.condition),
        "budget": BudgetForm(instance=job),
        "outcomes": queries.outcomes(job),
        "runners": job.runners.all(),
        "call": call,
        "prompt": queries.prompt_of(job, call) if call else None,
        "next_steps": _next_steps(job) if job.state == Job.State.DONE else [],
    }
    return render(request, "llm/job.html", context)


@require_safe
def failures(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    """Where failed calls were listed before they became a part of the job's page."""
    campaign = organized_campaign(request.user, slug)
    return redirect(f"{reverse('job', args=[slug, campaign_job(campaign, job_id).pk])}#failed")


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
    return _change(request, slug, job_id, actions.pause, "Paused. Calls in flight are finished and kept.")


@require_POST
def resume(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    return _change(request, slug, job_id, actions.resume, "Resumed. A worker continues as soon as one is free.")


@require_POST
def cancel(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    return _change(request, slug, job_id, actions.cancel, "Cancelled. Everything that was done is kept.")


@require_POST
def finish_live(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    """Have what is left asked one by one."""
    done = "What is left is asked one by one, once the batches under way are cancelled and read."
    return _change(request, slug, job_id, actions.finish_live, done)


@require_POST
def retry(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    """Have failed calls made again, those of one reason or all."""
    action = partial(actions.retry_failed, reason=request.POST.get("reason", ""))
    return _change(request, slug, job_id, action, "What failed is tried again.")


@require_POST
def budget(request: PersonRequest, slug: str, job_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    job = campaign_job(campaign, job_id)
    form = BudgetForm(request.POST, instance=campaign_job(campaign, job_id))
    if form.is_valid():
        actions.change_budget(job=job, **form.cleaned_data, acting_user=request.user)
        messages.success(request, "Budget saved. A running job uses it once it is paused and resumed.")
    else:
        messages.error(request, "Budget not saved: write numbers above 0, or leave the fields empty.")
    return redirect("job", slug, job_id)
