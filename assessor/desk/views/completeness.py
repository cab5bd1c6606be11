"""What a campaign lacks, in full."""

from itertools import islice

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.desk.completeness import KINDS, SLOW, Kind, gap

_LISTED = 1_000


@require_safe
def missing(request: PersonRequest, slug: str, name: str) -> HttpResponse:
    """All of a kind that is missing, or, where the page of a campaign asks for it, how much and the first few."""
    campaign, kind = organized_campaign(request.user, slug), _kind(name)
    context = {"campaign": campaign, "kind": kind, "name": name}
    if request.htmx:
        return render(request, "desk/completeness.html#line", context | {"gap": gap(campaign, kind)})
    rows = list(islice(kind.rows(campaign), _LISTED + 1))
    context |= {"rows": rows[:_LISTED], "more": len(rows) > _LISTED, "listed": _LISTED}
    return render(request, "desk/completeness.html", context)


def _kind(name: str) -> Kind:
    try:
        return (KINDS | SLOW)[name]
    except KeyError as error:
        raise Http404("Nothing of that name can be missing.") from error
