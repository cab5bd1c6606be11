"""What a campaign lacks: where it is listed."""

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.desk.completeness import KINDS, SLOW, gap

_LISTS = {
    **dict.fromkeys(("relevant", "pooled", "cited"), ("passages", "?show=no-text")),
    **dict.fromkeys(("ungraded", "nothing-relevant", "pooled-ungraded"), ("relevance_grades", "#gaps")),
    "runs": ("runs", "?show=lacking"),
    "empty": ("runs", "?show=no-text"),
}


@require_safe
def missing(request: PersonRequest, slug: str, name: str) -> HttpResponse:
    """To the list of what is missing, or, where a page asks for it, how much and the first few."""
    campaign, kind = organized_campaign(request.user, slug), (KINDS | SLOW).get(name)
    if kind is None:
        raise Http404("Nothing of that name can be missing.")
    if request.htmx:
        return render(request, "desk/_missing.html", {"campaign": campaign, "gap": gap(campaign, kind)})
    page, view = _LISTS[name]
    return redirect(reverse(page, args=[slug]) + view)
