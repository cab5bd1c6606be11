"""How far a campaign is, live."""

from hashlib import sha256
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign
from assessor.desk.flags import open_by_task
from assessor.desk.pace import NOT_KNOWN, TOO_EARLY
from assessor.desk.progress import jobs_under_way, progress, topic_rows
from assessor.desk.stalled_work import stuck
from assessor.work.queries import counted

_TOPICS = 50  # on a page


@require_safe
def progress_page(request: PersonRequest, slug: str) -> HttpResponse:
    """The page; its live part alone where that is asked for, and nothing (204) where it is as it was seen."""
    campaign = organized_campaign(request.user, slug)
    shown = _shown(request, campaign)
    # All that is on it is told by these values, so equal ones make an equal page.
    state = sha256(repr(shown).encode()).hexdigest()[:16]
    if request.htmx and request.headers.get("X-Seen") == state:
        return HttpResponse(status=204)
    words = {"not_known": NOT_KNOWN, "too_early": TOO_EARLY}
    template = "desk/progress.html#live" if request.htmx else "desk/progress.html"
    return render(request, template, {"campaign": campaign, "state": state, **words, **shown})


def _shown(request: PersonRequest, campaign: Campaign) -> dict[str, Any]:
    tasks = list(counted(campaign))
    asked = open_by_task(campaign)
    found = progress(campaign, tasks)
    page = Paginator(campaign.topics.order_by("qid"), _TOPICS).get_page(request.GET.get("page"))
    return {
        "progress": found,
        "questions": sum(asked.values()),
        "stuck": stuck(campaign, tasks, asked),
        "jobs": jobs_under_way(campaign),
        "page": page,
        "rows": topic_rows(campaign, page, found.steps),
    }
