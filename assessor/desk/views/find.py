"""Find."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.desk import find as finding
from assessor.desk.listing import query_of


@require_safe
def find(request: PersonRequest, slug: str) -> HttpResponse:
    """Topics, runs, people, conditions and pages; straight to the one topic or run of that very name."""
    campaign = organized_campaign(request.user, slug)
    q = query_of(request.GET)
    groups = finding.find(campaign, q) if q else []
    if only := finding.only_exact(groups):
        return redirect(only.address)
    return render(request, "desk/find.html", {"campaign": campaign, "q": q, "groups": groups, "most": finding.AT_MOST})
