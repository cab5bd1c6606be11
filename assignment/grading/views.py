"""Passages to grade, taken in from a campaign's page."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assignment.grading.passages import PassageError, add_pooled_passages


@require_POST
def add_passages(request: PersonRequest, slug: str) -> HttpResponse:
    """Take in those of the pool that were not taken in yet."""
    campaign = organized_campaign(request.user, slug)
    try:
        added = add_pooled_passages(campaign, acting_user=request.user)
    except PassageError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Passages added: {added:,}. Questions can be graded in them now.")
    return redirect("runs", slug)
