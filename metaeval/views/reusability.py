"""What leaving a team's nuggets out changes in the scores of a condition."""

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from assessor.scores.leaderboards import POLICY_WORDS
from metaeval.kept_results import keep_figures
from metaeval.measures import absolute_measures
from metaeval.reusability import Reusability, kept_reusability, team_figure
from metaeval.stats.means import Policy
from metaeval.stats.measures import Measure
from metaeval.views.conditions import asked_scores
from metaeval.views.figures import figure_response, later_figures


@require_safe
def reusability_page(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """The teams, by one of the condition's measures; the figure, which htmx asks for."""
    condition, policy, measure, measures = _asked(request, slug, condition_id)
    found = _found(condition, policy, measure)
    address = reverse("reusability", args=[slug, condition_id])
    if request.htmx:
        return later_figures(request, keep_figures([team_figure(found)]), address)
    context = {
        "campaign": condition.campaign,
        "condition": condition,
        "policy": policy,
        "policy_words": POLICY_WORDS[policy],
        "measures": measures,
        "found": found,
        "address": address,
    }
    return render(request, "metaeval/reusability.html", context)


@require_safe
def reusability_figure(request: PersonRequest, slug: str, condition_id: int, name: str, form: str) -> HttpResponseBase:
    """The figure: as a file, as the page draws it, or what it shows as a table."""
    condition, policy, measure, _ = _asked(request, slug, condition_id)
    figure = team_figure(_found(condition, policy, measure))
    if name != figure.name:
        raise Http404("There is no such figure.")
    return figure_response(request, figure.specification, name=f"{slug}.{condition}.{measure}.reusability", form=form)


def _asked(request: PersonRequest, slug: str, condition_id: int) -> tuple[Condition, Policy, str, list[Measure]]:
    """Return what asked_scores() does; of measures none that compares runs with each other."""
    condition, policy, measure, _ = asked_scores(request, slug, condition_id)
    offered = absolute_measures(condition)
    if measure not in {one.key for one in offered}:
        raise Http404("This measure depends on the runs that are scored.")
    return condition, policy, measure, offered


def _found(condition: Condition, policy: Policy, measure: str) -> Reusability:
    """Return what leaving teams out changes. Raises Http404 where no nuggets of answers are labelled."""
    found = kept_reusability(condition, policy, measure)
    if found is None:
        raise Http404("No nuggets of answers are labelled under this condition.")
    return found
