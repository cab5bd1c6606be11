"""A figure as a page draws it, and as a file."""

from django.http import Http404, HttpResponse, HttpResponseBase

from assessor.campaigns.http import PersonRequest, download
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from metaeval.charts.rendering import FORMS, Specification, Theme, config
from metaeval.pages import figure_table


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
