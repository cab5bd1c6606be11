"""Figures as a page draws them, and as files."""

from collections.abc import Sequence

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render

from assessor.campaigns.http import PersonRequest, download
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from metaeval.charts.rendering import FORMS, Specification, Theme, config
from metaeval.kept_results import KeptFigure
from metaeval.pages import figure_content, figure_table


def later_figures(
    request: PersonRequest, figures: Sequence[KeptFigure], address: str, *, are_of_query: bool = True
) -> HttpResponse:
    """Return the figures that a page asks for once it is there: they take as long as all else of it.

    address: of the page, without a query. are_of_query: whether it says what they show. See
    metaeval/_later_figures.html.
    """
    context = {
        "figures": [figure_content(*one) for one in figures],
        "figure_forms": FORMS,
        "address": address,
        "query": request.GET.urlencode() if are_of_query else "",
    }
    return render(request, "metaeval/_figures.html", context)


def figure_response(request: PersonRequest, specification: Specification, *, name: str, form: str) -> HttpResponseBase:
    """Return a figure in one of FORMS, as the specification that pages draw, or what it shows as a table.

    name: of the file, without its ending. The theme is the request's. Raises Http404.
    """
    try:
        theme = Theme(request.GET.get("theme", Theme.LIGHT))
    except ValueError as error:
        raise Http404("There is no such theme.") from error
    if form == "json":
        return HttpResponse(to_json({**specification, "config": config(theme)}), content_type="application/json")
    if form == "csv":
        columns, rows = figure_table(specification)
        return download(f"{name}.csv", write_table(columns, rows))
    if form not in FORMS:
        raise Http404("There is no such form of figures.")
    response = HttpResponse(FORMS[form][1](specification, theme), content_type=FORMS[form][0])
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response
