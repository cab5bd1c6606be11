"""Comparisons with the same reference, side by side."""

from typing import Any, NamedTuple

from django.http import Http404, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.studies.queries import Registrations
from metaeval.charts.rendering import FORMS
from metaeval.joint import SORTS, TITLES, imported_columns, joint_rows, joint_specification, measures_of, with_reference
from metaeval.pages import figure_content
from metaeval.queries import Agreement
from metaeval.views.figures import figure_response

_LABELS = ("τ of runs", "τ within topics", "τ of cells", "κ of labels", "Equal labels")


class Column(NamedTuple):
    """A column by which candidates can be sorted."""

    name: str
    label: str
    is_current: bool


@require_safe
def against(request: PersonRequest, slug: str, side: str) -> HttpResponse:
    """How far each candidate agrees with a reference by a measure, and their figures in one."""
    campaign = organized_campaign(request.user, slug)
    found = _found(with_reference(campaign, side))
    measure, measures = _measure(request.GET, found), measures_of(found)
    swap, by = "swap" in request.GET, request.GET.get("sort", SORTS[0])
    columns = imported_columns(campaign, [one.candidate_name for one in found])
    registrations = Registrations(campaign)
    if by not in (*SORTS, *(one.key for one in columns)):
        raise Http404("There is no such column.")
    specifications = {name: joint_specification(found, name, measure, swap=swap) for name in TITLES}
    context = {
        "campaign": campaign,
        "side": side,
        "reference": found[0].reference_name,
        "rows": [
            (
                row,
                [row.figure(one.key) for one in columns],
                registrations.covering(row.agreement.reference, row.agreement.candidate),
            )
            for row in joint_rows(found, measure, by, columns)
        ],
        "has_registrations": bool(registrations),
        "columns": [Column(name, label, name == by) for name, label in zip(SORTS, _LABELS, strict=True)],
        "imported": [(one, one.key == by) for one in columns],
        "unmeasured": [one for one in found if not any(taus.measure == measure for taus in one.taus)],
        "measures": measures,
        "measure": measure,
        "swap": swap,
        "figures": [figure_content(name, TITLES[name], one) for name, one in specifications.items() if one],
        "figure_forms": FORMS,
    }
    return render(request, "metaeval/against.html", context)


def _found(found: list[Agreement]) -> list[Agreement]:
    if not found:
        raise Http404("Nothing was compared with that yet.")
    return found


def _measure(asked: QueryDict, found: list[Agreement]) -> str:
    """Return the key of the measure that is asked for, the first one where none is, "" where there are none."""
    keys = [one.key for one in measures_of(found)]
    measure = asked.get("measure", keys[0] if keys else "")
    if keys and measure not in keys:
        raise Http404("There is no such measure.")
    return measure


@require_safe
def joint_figure(request: PersonRequest, slug: str, side: str, name: str, form: str) -> HttpResponseBase:
    """A figure of all comparisons with a reference: as a file, as the page draws it, or what it shows as a table."""
    campaign = organized_campaign(request.user, slug)
    found = _found(with_reference(campaign, side))
    specification: dict[str, Any] | None = None
    if name in TITLES:
        specification = joint_specification(found, name, _measure(request.GET, found), swap="swap" in request.GET)
    if specification is None:
        raise Http404("There is no such figure.")
    return figure_response(request, specification, name=f"{campaign.slug}.{side}.{name}", form=form)
