"""Hybrid scores: chosen, shown with intervals, figures and what more topics would give."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.scores.leaderboards import POLICY_WORDS
from metaeval import actions
from metaeval.access import campaign_hybrid
from metaeval.actions import ComparisonError
from metaeval.charts.rendering import FORMS
from metaeval.hybrid_forms import TARGETS, HybridForm
from metaeval.hybrids import (
    FILES,
    headline,
    hours_of,
    hybrid_figures,
    hybrid_result,
    hybrids_of,
    marks_of,
    measures_of,
    more_needed,
    table_rows,
)
from metaeval.inputs import NothingToCompare
from metaeval.pages import figure_content
from metaeval.stats.hybrid import Target
from metaeval.stats.means import Policy
from metaeval.views.figures import figure_response

_ON_A_PAGE = 50
_HALF_WIDTH = 0.05  # that "how many more" is told for unless another one is asked for


@require_http_methods(["GET", "POST"])
def hybrids(request: PersonRequest, slug: str) -> HttpResponse:
    """The hybrid scores so far, and the form of new ones, which leads to their page."""
    campaign = organized_campaign(request.user, slug)
    form = HybridForm(campaign, request.POST or None, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        try:
            found = actions.create_hybrid(campaign=campaign, **form.cleaned_data, acting_user=request.user)
        except ComparisonError as error:
            form.add_error(None, str(error))
        else:
            return redirect("hybrid", slug, found.pk)
    page = Paginator(hybrids_of(campaign), _ON_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "metaeval/hybrids.html", {"campaign": campaign, "form": form, "page": page})


@require_safe
def hybrid(request: PersonRequest, slug: str, hybrid_id: int) -> HttpResponse:
    """The scores by one of the measures."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_hybrid(campaign, hybrid_id)
    context: dict[str, Any] = {
        "campaign": campaign,
        "hybrid": found,
        "policy_words": POLICY_WORDS[Policy(found.policy)],
        "target_words": TARGETS[Target(found.target)],
    }
    try:
        measures = measures_of(found)
        result = hybrid_result(found, _asked(request, [one.key for one in measures]))
    except NothingToCompare as error:
        return render(request, "metaeval/hybrid.html", context | {"problem": str(error)})
    half_width, hours = _half_width(request), hours_of(found)
    context |= {
        "result": result,
        "measures": measures,
        "headline": headline(result),
        "marks": marks_of(found, result),
        "rows": table_rows(result),
        "half_width": half_width,
        "more": more_needed(result, half_width, hours) if result.curve else "",
        "figures": [figure_content(one.name, one.title, one.specification) for one in hybrid_figures(result, hours)],
        "figure_forms": FORMS,
        "address": reverse("hybrid", args=[slug, hybrid_id]),
        "files": list(FILES),
    }
    return render(request, "metaeval/hybrid.html", context)


@require_safe
def hybrid_figure(request: PersonRequest, slug: str, hybrid_id: int, name: str, form: str) -> HttpResponseBase:
    """A figure: as a file, as the page draws it, or what it shows as a table."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_hybrid(campaign, hybrid_id)
    try:
        result = hybrid_result(found, _asked(request, [one.key for one in measures_of(found)]))
    except NothingToCompare as error:
        raise Http404(str(error)) from error
    figures = {one.name: one for one in hybrid_figures(result, hours_of(found))}
    if name not in figures:
        raise Http404("There is no such figure.")
    file_name = f"{slug}.{found}.{result.measure.key}.{name}"
    return figure_response(request, figures[name].specification, name=file_name, form=form)


def _asked(request: PersonRequest, keys: list[str]) -> str:
    """Return the key of the measure that is asked for, the first where none is. Raises Http404."""
    measure = request.GET.get("measure", keys[0])
    if measure not in keys:
        raise Http404("There is no such measure.")
    return measure


def _half_width(request: PersonRequest) -> float:
    """Return the half-width that is asked for. Raises Http404 for what is none."""
    try:
        asked = float(request.GET.get("half_width", _HALF_WIDTH))
    except ValueError as error:
        raise Http404("A half-width is a number.") from error
    if not 0.001 <= asked <= 1:
        raise Http404("A half-width is from 0.001 to 1.")
    return asked
