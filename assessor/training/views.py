"""Training over HTTP: the feedback that people get, and what organizers arrange and see of it."""

from itertools import groupby
from operator import attrgetter
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from assessor.accounts.languages import in_own_language_unless_organizer
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from assessor.campaigns.queries import by_names
from assessor.training.access import own_practice
from assessor.training.actions import TrainingError, mark_practice, name_reference, read_feedback
from assessor.training.queries import compare, possible_references, practised, references

_ON_A_PAGE = 100


@require_safe
@in_own_language_unless_organizer
def practice_feedback(request: PersonRequest, task_id: int) -> HttpResponse:
    """What a person said on a topic for practice beside the reference, once they have signed it off."""
    task = own_practice(request.user, task_id)
    against = references([task.condition_id])
    context: dict[str, Any] = {"task": task}
    if against:
        read_feedback(task)
        [found] = compare([task], against)
        groups = [(answer, list(items)) for answer, items in groupby(found.items, attrgetter("answer"))]
        kind = kind_of(task)
        context |= {"found": found, "groups": kind.practice_groups(task, groups), "kind": kind}
    return render(request, "training/feedback.html", context)


@require_safe
def practice(request: PersonRequest, slug: str) -> HttpResponse:
    """The topics for practice, what it is held against, and how people did."""
    campaign = organized_campaign(request.user, slug)
    tasks = Paginator(practised(campaign), _ON_A_PAGE).get_page(request.GET.get("page"))
    done = list(tasks)
    under = campaign.conditions.filter(tasks__topic__is_practice=True).distinct().order_by("name")
    conditions = list(under.select_related("campaign"))
    against = references([condition.pk for condition in (*conditions, *(task.condition for task in done))])
    found = {compared.task.pk: compared for compared in compare(done, against)}
    context = {
        "campaign": campaign,
        "topics": campaign.topics.filter(is_practice=True).order_by("qid"),
        "conditions": conditions,
        "named": [(one, against[one.pk].named) if one.pk in against else (one, "") for one in conditions],
        "page": tasks,
        "rows": [(task, found.get(task.pk)) for task in done],
    }
    return render(request, "training/practice.html", context)


@require_safe
def practice_reference(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """What practice under a condition can be held against, to choose from."""
    campaign = organized_campaign(request.user, slug)
    condition = get_object_or_404(campaign.conditions.select_related("campaign"), pk=condition_id)
    now = references([condition.pk]).get(condition.pk)
    context = {
        "campaign": campaign,
        "condition": condition,
        "possible": possible_references(condition),
        "now": now and (now.reference_id or now.grades_id),
    }
    return render(request, "training/reference.html", context)


@require_POST
def name_practice_reference(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Say what practice under a condition is held against."""
    campaign = organized_campaign(request.user, slug)
    condition: Condition = get_object_or_404(campaign.conditions.select_related("campaign"), pk=condition_id)
    wanted = request.POST.get("reference", "")
    by_key = {str(one.pk): one for one in possible_references(condition)}
    if wanted and wanted not in by_key:
        raise Http404("There is no such reference for this condition.")
    try:
        name_reference(condition=condition, reference=by_key.get(wanted), acting_user=request.user)
    except TrainingError as error:
        messages.error(request, str(error))
    return redirect("practice", slug)


@require_POST
def mark_topics(request: PersonRequest, slug: str) -> HttpResponse:
    """Make topics, by their ids, such for practice or such that count."""
    campaign = organized_campaign(request.user, slug)
    wanted, is_practice = request.POST.get("topics", "").split(), request.POST.get("practice") == "1"
    topics, unknown = by_names(campaign.topics, "qid", sorted(set(wanted)))
    if unknown:
        messages.error(request, f"There is no topic {', '.join(unknown)} in this campaign. Nothing was changed.")
    elif not topics:
        messages.error(request, "Name at least one topic, by its id.")
    else:
        try:
            changed = mark_practice(campaign=campaign, topics=topics, is_practice=is_practice, acting_user=request.user)
        except TrainingError as error:
            messages.error(request, f"{error} Nothing was changed.")
        else:
            named = ", ".join(topic.qid for topic in changed) or "no topic: all were so before"
            messages.success(request, f"{'For practice' if is_practice else 'Counts'} from now on: {named}.")
    return redirect("practice", slug)
