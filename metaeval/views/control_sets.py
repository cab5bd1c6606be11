"""Control sets: drawn, asked again with the cost in sight, and what each time found."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.labels.label_kind import label_kind
from assessor.llm.actions import JobError
from assessor.llm.queries import seconds_for
from assessor.studies import control_sets as sets
from assessor.studies.actions import StudyError
from metaeval.access import campaign_control_set
from metaeval.control_forms import ControlForm, NewControlForm
from metaeval.control_sets import latest_checks, passes
from metaeval.stats.control import LOOKS, PASSES

_ON_A_PAGE = 26  # passes: half a year of weeks


@require_http_methods(["GET", "POST"])
def control_sets(request: PersonRequest, slug: str) -> HttpResponse:
    """All control sets of a campaign with what they found last; a POST draws a new one."""
    campaign = organized_campaign(request.user, slug)
    form = NewControlForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        chosen = {name: form.cleaned_data[name] for name in ("condition", "name", "cells", "seed")}
        try:
            made = sets.draw_control_set(**chosen, settings=form.settings(), acting_user=request.user)
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            items = label_kind(made.study.kind).items
            messages.success(request, f"Drawn: {made.study.drawn.count()} {items}. Ask it to begin.")
            return redirect("control_set", slug, made.pk)
    every = list(sets.control_sets_of(campaign))
    checks = latest_checks(every)
    context = {"campaign": campaign, "form": form, "rows": [(one, checks.get(one.pk)) for one in every]}
    return render(request, "metaeval/control_sets.html", context)


@require_http_methods(["GET", "POST"])
def control_set(request: PersonRequest, slug: str, control_id: int) -> HttpResponse:
    """A control set with each time that it was asked, and what asking it again costs; a POST changes its settings."""
    campaign = organized_campaign(request.user, slug)
    control = campaign_control_set(campaign, control_id)
    form = ControlForm(request.POST or None, instance=campaign_control_set(campaign, control_id))
    if request.method == "POST" and form.is_valid():
        sets.change_control_set(control=control, settings=form.settings(), acting_user=request.user)
        messages.success(request, "Saved.")
        return redirect("control_set", slug, control.pk)
    plan, problem = None, ""
    try:
        plan = sets.plan_pass(control)
    except JobError as error:
        problem = str(error)
    every = passes(control)
    checks = [one.check for one in every if one.check]
    drawn = control.study.drawn
    context = {
        "campaign": campaign,
        "control": control,
        "first": control.study.first,
        "kind": label_kind(control.study.kind),
        "items": drawn.count(),
        "answers": drawn.values("answer").distinct().count(),
        "plan": plan,
        "seconds": seconds_for(plan.judge, plan.expected) if plan else None,
        "problem": problem,
        "form": form,
        "last": checks[-1] if checks else None,
        "page": Paginator(every[::-1], _ON_A_PAGE).get_page(request.GET.get("page")),
        "passes": PASSES,
        "looks": LOOKS,
    }
    return render(request, "metaeval/control_set.html", context)


@require_POST
def ask_control_set(request: PersonRequest, slug: str, control_id: int) -> HttpResponse:
    """Ask a control set again."""
    campaign = organized_campaign(request.user, slug)
    control = campaign_control_set(campaign, control_id)
    try:
        job = sets.ask(control=control, acting_user=request.user)
    except JobError as error:
        messages.error(request, str(error))
        return redirect("control_set", slug, control.pk)
    return redirect("job", slug, job.pk)
