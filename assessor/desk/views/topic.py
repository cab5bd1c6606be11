"""The page of a topic."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.desk.collection import topic_rows, topic_states
from assessor.desk.exposure import note_page
from assessor.desk.grid import grid_of
from assessor.desk.topic import neighbours, nuggets_on, passages_on
from assessor.plan.queries import work_rows
from assessor.work.queries import minutes


@require_safe
def topic(request: PersonRequest, slug: str, topic_id: int) -> HttpResponse:
    """All that there is on a topic: its query, nuggets, labels, passages, and the work on it."""
    campaign = organized_campaign(request.user, slug)
    found = get_object_or_404(campaign.topics, pk=topic_id)
    [row] = topic_rows(campaign, [found])
    named = {one.pk: one for one in campaign.conditions.all()}
    work = [(named[one.condition], one, minutes(one.seconds)) for one in work_rows(campaign) if one.topic == found.pk]
    before, after = neighbours(campaign, found)
    nuggets, grid = nuggets_on(found), grid_of(campaign, found, request.GET)
    passages = passages_on(campaign, found, request.GET)
    conditions = [*(column.bank.condition for column in nuggets), *(grid.shown if grid else ())]
    note_page(request.user, found, conditions, passages.sources)
    context = {
        "campaign": campaign,
        "topic": found,
        "facts": row.facts,
        "state": topic_states(campaign, [found.pk])[found.pk],
        "nuggets": nuggets,
        "grid": grid,
        "passages": passages,
        "work": work,
        "time": minutes(sum(one.seconds for _, one, _ in work)),
        "before": before,
        "after": after,
    }
    return render(request, "desk/topic.html", context)
