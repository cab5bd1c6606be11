"""What banks lack, for organizers alone."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign, Condition
from nuggets.candidates.queries import candidate_conditions
from nuggets.candidates.report import candidates, report, uncovered


@require_safe
def all_topics(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """The share of supported sentences that state no nugget, in all and by topic."""
    campaign = organized_campaign(request.user, slug)
    condition = _condition(campaign, condition_id)
    context = {"campaign": campaign, "condition": condition, "found": report(condition)}
    return render(request, "candidates/candidates.html", context)


@require_safe
def of_topic(request: PersonRequest, slug: str, condition_id: int, topic_id: int) -> HttpResponse:
    """What the bank of a topic lacks."""
    campaign = organized_campaign(request.user, slug)
    condition = _condition(campaign, condition_id)
    topic = campaign.topics.filter(pk=topic_id, is_practice=False).first()
    row = next(iter(uncovered(condition, [topic])), None) if topic else None
    if topic is None or row is None:
        raise Http404("This topic has no finished bank, or no supported sentences.")
    context = {"campaign": campaign, "condition": condition, "row": row, "candidates": candidates(condition, topic)}
    return render(request, "candidates/topic.html", context)


def _condition(campaign: Campaign, condition_id: int) -> Condition:
    condition = candidate_conditions(campaign).filter(pk=condition_id).first()
    if condition is None:
        raise Http404("There are no such candidates in this campaign.")
    return condition
