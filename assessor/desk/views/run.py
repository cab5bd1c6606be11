"""The pages of a run and of one of its answers."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Answer
from assessor.desk.collection import run_row
from assessor.desk.exposure import note_page
from assessor.desk.listing import paged
from assessor.desk.run import judged_answer, scores_by_condition

_ANSWERS = 20  # on a page, below the scores


@require_safe
def run(request: PersonRequest, slug: str, run_id: int) -> HttpResponse:
    """A run's scores by condition, by topic under one of them, and its answers."""
    campaign = organized_campaign(request.user, slug)
    found = get_object_or_404(campaign.runs, pk=run_id)
    answers = Answer.objects.filter(run=found, apart=False).select_related("topic").order_by("topic__qid")
    context = {
        "campaign": campaign,
        "run": found,
        "counted": run_row(campaign, found),
        "aliases": found.aliases.all(),
        "scores": scores_by_condition(campaign, found, request.GET.get("condition")),
        "page": paged(request.GET, answers.only("words", "topic__qid", "topic__title", "run"), _ANSWERS),
    }
    return render(request, "desk/run.html", context)


@require_safe
def answer(request: PersonRequest, slug: str, run_id: int, topic_id: int) -> HttpResponse:
    """A run's answer to a topic, with the labels of all judges."""
    campaign = organized_campaign(request.user, slug)
    answers = Answer.objects.filter(run__campaign=campaign, apart=False).select_related("run", "topic")
    found = get_object_or_404(answers, run=run_id, topic=topic_id)
    of_run = Answer.objects.filter(run=found.run, apart=False).select_related("topic").only("run", "topic__qid")
    judged = judged_answer(campaign, found)
    note_page(request.user, found.topic, [one for table in judged.tables for one in table.conditions])
    context = {
        "campaign": campaign,
        "judged": judged,
        "before": of_run.filter(topic__qid__lt=found.topic.qid).order_by("topic__qid").last(),
        "after": of_run.filter(topic__qid__gt=found.topic.qid).order_by("topic__qid").first(),
    }
    return render(request, "desk/answer.html", context)
