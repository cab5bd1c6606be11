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
from assessor.desk.flags import asked, open_by_task, unsettled
from assessor.desk.pace import NOT_KNOWN, TOO_EARLY
from assessor.desk.progress import heat, jobs_under_way, progress, sparks
from assessor.desk.stalled_work import stuck
from assessor.plan.queries import work_rows
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
    questions = list(asked(campaign))
    open_questions = open_by_task(campaign, questions)
    found = progress(campaign, tasks)
    work = work_rows(campaign, tasks)
    topics = campaign.topics.order_by("qid")
    busy = {row.topic for row in work}
    free = sum(topic not in busy for topic in topics.filter(is_practice=False).values_list("pk", flat=True))
    stalled = stuck(campaign, tasks, open_questions, unsettled(questions), free if work else 0)
    page = Paginator(topics, _TOPICS).get_page(request.GET.get("page"))
    shown = list(page)
    return {
        "progress": found,
        "people": sparks(found.people),
        "questions": sum(open_questions.values()),
        "stuck": stalled,
        "jobs": jobs_under_way(campaign),
        "page": page,
        "topics": shown,
        "heat": heat(campaign, shown, found.steps, work, {one.place for one in stalled if one.place}),
    }
