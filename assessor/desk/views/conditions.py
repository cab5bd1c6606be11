"""Conditions: all of them, a new one, and one with all that is known of it."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.actions import ConditionError
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign, Condition
from assessor.desk.conditions import work_of_people
from assessor.desk.forms import ConditionForm
from assessor.desk.overview import conditions_of
from assessor.llm.queries import jobs_of
from assessor.scores.cache import condition_scores
from assessor.scores.page_tables import runs_listing
from assessor.scores.tables import score_table
from assessor.work.queries import counted
from metaeval.stats.means import Policy

_RUNS = 5  # that are named with their scores


@require_safe
def conditions(request: PersonRequest, slug: str) -> HttpResponse:
    """All conditions of a campaign: how far each is, by whom, and how it agrees with its reference."""
    campaign = organized_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "conditions": conditions_of(campaign),
    }
    return render(request, "desk/conditions.html", context)


@require_http_methods(["GET", "POST"])
def new_condition(request: PersonRequest, slug: str) -> HttpResponse:
    """A new condition under which people work. ?of=: the nuggets that are to be assigned."""
    campaign = organized_campaign(request.user, slug)
    form = ConditionForm(campaign, request.POST or None, nuggets=request.GET.get("of", ""))
    if request.method == "POST" and form.is_valid():
        try:
            condition = form.create(request.user)
        except ConditionError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{condition} is there. Now give out its topics.")
            return redirect("plan", slug)
    return render(request, "desk/new_condition.html", {"form": form, "campaign": campaign})


@require_safe
def condition(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """All that is known of one condition: who made the nuggets, who labelled, how far it is, scores, agreement."""
    campaign = organized_campaign(request.user, slug)
    record = _condition(campaign, condition_id)
    every = conditions_of(campaign)
    state = next(one for one in (*every.every, *every.samples) if one.pk == record.pk)
    kind = kind_of(record)
    context = {
        "campaign": campaign,
        "condition": record,
        "kind": kind,
        "state": state,
        "built_on_it": [one for one in every.every if one.nuggets == record.pk],
        "people": work_of_people(task for task in counted(campaign) if task.condition_id == record.pk),
        "jobs": jobs_of(campaign).filter(condition=record),
        **(_scores(record) if kind.scoring() and not record.sample and state.total else {}),
    }
    return render(request, "desk/condition.html", context)


def _condition(campaign: Campaign, condition_id: int) -> Condition:
    related = (*Condition.TOLD_WITH, "protocol", "created_by")
    found = campaign.conditions.select_related("campaign", "manual_setup", *related).filter(pk=condition_id).first()
    if found is None:
        raise Http404("There is no such condition in this campaign.")
    return found


def _scores(condition: Condition) -> dict[str, Any]:
    """Return the best runs by the first measure, and over how many topics."""
    found = condition_scores(condition)
    table = score_table(found, Policy.ZERO)
    first = found.measures.all[0]
    listing = runs_listing(found.measures, table).sorted_by(f"-{first.key}")
    at = [column.key for column in listing.columns].index(first.key)
    best = [
        (line, line.cells[at - 1].text, max(0.0, float(line.values[at] or 0)))  # a bar begins at 0
        for line in listing.lines[:_RUNS]
        if line.values[at] is not None
    ]
    return {"measure": first, "best": best, "table": table, "runs": len(listing.lines)}
