"""Alarms on the labels that people and models give, for organizers alone."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.desk.alarms import alarms
from assessor.desk.judge_alarms import judge_alarms
from assessor.desk.overview import state_of
from metaeval.stats.monitoring import WEEK

_ON_A_PAGE = 12  # people and kinds of work


@require_safe
def alarms_page(request: PersonRequest, slug: str) -> HttpResponse:
    """Which alarms stand on labels of people and on jobs, and what is watched of each person's labels."""
    campaign = organized_campaign(request.user, slug)
    state = state_of(campaign).name
    watched = alarms(campaign, state)
    context = {
        "campaign": campaign,
        "standing": [(one, row) for one in watched for row in one.alarms],
        "judges": judge_alarms(campaign, state),
        "page": Paginator(watched, _ON_A_PAGE).get_page(request.GET.get("page")),
        "week": WEEK,
    }
    return render(request, "desk/alarms.html", context)
