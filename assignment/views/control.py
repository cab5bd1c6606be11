"""Control runs, made from a campaign's page, and how a judge scores those that try to mislead it."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assignment.canary_report import canary_outcomes, headline, with_canaries
from assignment.control_runs import ControlError, make_control_runs
from assignment.forms import ControlForm


@require_POST
def control_runs(request: PersonRequest, slug: str) -> HttpResponse:
    """Add the control runs of a condition's nuggets."""
    campaign = organized_campaign(request.user, slug)
    form = ControlForm(campaign, request.POST)
    if form.is_valid():
        try:
            added = make_control_runs(**form.cleaned_data, acting_user=request.user)
        except ControlError as error:
            messages.error(request, str(error))
        else:
            told = ", ".join(f"{tag} {count}" for tag, count in added.items() if count)
            messages.success(request, f"Answers added: {told or 'none, they are all there'}.")
    else:
        messages.error(request, "Choose the condition whose nuggets the control runs are to say.")
    return redirect("runs", slug)


@require_safe
def canaries(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """How a condition's judge scores canaries."""
    campaign = organized_campaign(request.user, slug)
    condition = with_canaries(campaign).filter(pk=condition_id).first()
    if condition is None:
        raise Http404("No canaries are labelled under this condition.")
    outcomes = canary_outcomes(condition)
    context = {"campaign": campaign, "condition": condition, "outcomes": outcomes, "headline": headline(outcomes)}
    return render(request, "assignment/canaries.html", context)
