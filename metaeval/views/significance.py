"""Which pairs of runs differ under a condition, by a measure and a correction for the number of pairs."""

from typing import NamedTuple

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from metaeval.measures import measure_named
from metaeval.significance import (
    CELLS_WORDS,
    METHOD_WORDS,
    TABLES,
    kept_figures,
    kept_rows,
    layout_notes,
    method_counts,
    sentence,
)
from metaeval.stats.layout import Cells
from metaeval.stats.letters import in_short
from metaeval.stats.measures import Measure
from metaeval.stats.multiple_comparisons import Method
from metaeval.views.conditions import asked_measure
from metaeval.views.figures import figure_response, later_figures


class _Asked(NamedTuple):
    """What an address asks for. measures: all that can be."""

    condition: Condition
    measure: str
    measures: list[Measure]
    cells: Cells
    method: Method


def _asked(request: PersonRequest, slug: str, condition_id: int) -> _Asked:
    condition, measure, measures = asked_measure(request, slug, condition_id)
    try:
        cells = Cells(request.GET.get("policy", Cells.ZERO))
        method = Method(request.GET.get("correction", Method.TUKEY))
    except ValueError as error:
        raise Http404("There is no such policy or correction.") from error
    return _Asked(condition, measure, measures, cells, method)


@require_safe
def significance(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """How many pairs of runs differ, the runs in groups that are not told apart; the figures, which htmx asks for."""
    condition, measure, measures, cells, method = _asked(request, slug, condition_id)
    address = reverse("significance", args=[slug, condition_id])
    if request.htmx:
        return later_figures(request, kept_figures(condition, cells, measure, method), address)
    found, rows = kept_rows(condition, cells, measure, method)
    of_measure = measure_named(measure)
    context = {
        "campaign": condition.campaign,
        "condition": condition,
        "measures": measures,
        "measure": of_measure,
        "policies": CELLS_WORDS.items(),
        "policy": cells,
        "methods": METHOD_WORDS.items(),
        "method": method,
        "found": found,
        "sentence": sentence(found, method),
        "is_refused": method not in found.tests.p,
        "notes": layout_notes(found),
        "counts": method_counts(found),
        "rows": [
            (at, row.run, of_measure.on_page(row.mean), in_short(row.letters)) for at, row in enumerate(rows, start=1)
        ],
        "tables": TABLES,
    }
    return render(request, "metaeval/significance.html", context)


@require_safe
def significance_figure(request: PersonRequest, slug: str, condition_id: int, name: str, form: str) -> HttpResponseBase:
    """A figure: as a file, as the page draws it, or what it shows as a table."""
    condition, measure, _, cells, method = _asked(request, slug, condition_id)
    figures = {one.name: one for one in kept_figures(condition, cells, measure, method)}
    if name not in figures:
        raise Http404("There is no such figure.")
    file_name = f"{slug}.{condition}.{measure}.{cells}.{method}.{name}"
    return figure_response(request, figures[name].specification, name=file_name, form=form)
