"""The figures of one condition's scores."""

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from assessor.scores.leaderboards import POLICY_WORDS
from assessor.scores.views import asked_policy, scored_condition
from metaeval.charts.rendering import FORMS
from metaeval.condition_figures import condition_figures
from metaeval.measures import measures_of
from metaeval.pages import figure_content
from metaeval.stats.means import Policy
from metaeval.stats.measures import Measure
from metaeval.views.figures import figure_response


@require_safe
def score_figures(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """The figures, by one of the condition's measures."""
    condition, policy, measure, measures = asked_scores(request, slug, condition_id)
    context = {
        "campaign": condition.campaign,
        "condition": condition,
        "policy": policy,
        "policy_words": POLICY_WORDS[policy],
        "measures": measures,
        "measure": measure,
        "figures": [figure_content(*one) for one in condition_figures(condition, policy, measure)],
        "figure_forms": FORMS,
        "address": reverse("score_figures", args=[slug, condition_id]).removesuffix("figures/"),
    }
    return render(request, "metaeval/score_figures.html", context)


@require_safe
def score_figure(request: PersonRequest, slug: str, condition_id: int, name: str, form: str) -> HttpResponseBase:
    """A figure: as a file, as the page draws it, or what it shows as a table."""
    condition, policy, measure, _ = asked_scores(request, slug, condition_id)
    found = {one.name: one for one in condition_figures(condition, policy, measure)}
    if name not in found:
        raise Http404("There is no such figure.")
    file_name = f"{slug}.{condition}.{measure}.{name}"
    return figure_response(request, found[name].specification, name=file_name, form=form)


def asked_scores(request: PersonRequest, slug: str, condition_id: int) -> tuple[Condition, Policy, str, list[Measure]]:
    """Return the condition, and what is asked of it: the policy, the key of a measure, and all that can be."""
    condition, measure, measures = asked_measure(request, slug, condition_id)
    return condition, asked_policy(request), measure, measures


def asked_measure(request: PersonRequest, slug: str, condition_id: int) -> tuple[Condition, str, list[Measure]]:
    """Return the condition, the key of the measure that is asked for, and all that can be. Raises Http404."""
    condition = scored_condition(organized_campaign(request.user, slug), condition_id)
    measures = measures_of(condition)
    measure = request.GET.get("measure", measures[0].key)
    if measure not in {one.key for one in measures}:
        raise Http404("There is no such measure.")
    return condition, measure, measures
