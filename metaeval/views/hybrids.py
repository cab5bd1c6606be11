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
from metaeval.calibrations import uncalibrated
from metaeval.hybrid_figures import drawn_result, hours_of
from metaeval.hybrid_forms import TARGETS, HybridForm
from metaeval.hybrid_tables import FILES, table_rows
from metaeval.hybrid_words import headline, marks_of, more_needed
from metaeval.hybrids import hybrid_result, hybrids_of
from metaeval.inputs import NothingToCompare
from metaeval.stats.hybrid import Target
from metaeval.stats.means import Policy
from metaeval.views.figures import figure_response, later_figures

_ON_A_PAGE = 50
_NO_MEASURE = "There is no such measure."
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
    context = {
        "campaign": campaign,
        "form": form,
        "page": page,
        "rows": page.object_list,
        "uncalibrated": uncalibrated(campaign, [one.model for one in page.object_list]),
    }
    return render(request, "metaeval/hybrids.html", context)


@require_safe
def hybrid(request: PersonRequest, slug: str, hybrid_id: int) -> HttpResponse:
    """The scores by one of the measures; the figures, which htmx asks for."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_hybrid(campaign, hybrid_id)
    context: dict[str, Any] = {
        "campaign": campaign,
        "hybrid": found,
        "policy_words": POLICY_WORDS[Policy(found.policy)],
        "target_words": TARGETS[Target(found.target)],
    }
    half_width, hours = _half_width(request), hours_of(found)
    measure, address = request.GET.get("measure", ""), reverse("hybrid", args=[slug, hybrid_id])
    try:
        if request.htmx:
            return later_figures(request, drawn_result(found, measure, hours)[1], address)
        result = hybrid_result(found, measure)
    except NothingToCompare as error:
        return render(request, "metaeval/hybrid.html", context | {"problem": str(error)})
    except KeyError as error:
        raise Http404(_NO_MEASURE) from error
    context |= {
        "result": result,
        "headline": headline(result),
        "marks": marks_of(found, result),
        "rows": table_rows(result),
        "has_tasks": any(result.sides.tasks),
        "half_width": half_width,
        "more": more_needed(result, half_width, hours) if result.curve else "",
        "address": address,
        "files": list(FILES),
    }
    return render(request, "metaeval/hybrid.html", context)


@require_safe
def hybrid_figure(request: PersonRequest, slug: str, hybrid_id: int, name: str, form: str) -> HttpResponseBase:
    """A figure: as a file, as the page draws it, or what it shows as a table."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_hybrid(campaign, hybrid_id)
    try:
        result, drawn = drawn_result(found, request.GET.get("measure", ""), hours_of(found))
    except NothingToCompare as error:
        raise Http404(str(error)) from error
    except KeyError as error:
        raise Http404(_NO_MEASURE) from error
    figures = {one.name: one for one in drawn}
    if name not in figures:
        raise Http404("There is no such figure.")
    file_name = f"{slug}.{found}.{result.measure.key}.{name}"
    return figure_response(request, figures[name].specification, name=file_name, form=form)


def _half_width(request: PersonRequest) -> float:
    """Return the half-width that is asked for. Raises Http404 for what is none."""
    try:
        asked = float(request.GET.get("half_width", _HALF_WIDTH))
    except ValueError as error:
        raise Http404("A half-width is a number.") from error
    if not 0.001 <= asked <= 1:
        raise Http404("A half-width is from 0.001 to 1.")
    return asked
