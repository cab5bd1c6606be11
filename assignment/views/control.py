"""Control runs, made from a campaign's page."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
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
