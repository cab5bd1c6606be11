"""What a comparison's judge favours besides quality."""

from typing import NamedTuple

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.formats.families import FAMILIES
from metaeval.bias_tables import bias_rows
from metaeval.bias_words import sentence
from metaeval.biases import Bias, bias_families, bias_measures, biased, kept_bias
from metaeval.charts.rendering import FORMS
from metaeval.inputs import NothingToCompare
from metaeval.measures import measure_named
from metaeval.models import Comparison
from metaeval.pages import figure_content
from metaeval.stats.measures import Measure
from metaeval.views.figures import figure_response


class _Asked(NamedTuple):
    """What an address asks for. measures, families: all that can be."""

    comparison: Comparison
    measure: str
    measures: list[Measure]
    family: str
    families: dict[str, str]
    found: Bias | None
    why_not: str


def _asked(request: PersonRequest, slug: str, comparison_id: int) -> _Asked:
    comparison = get_object_or_404(biased(organized_campaign(request.user, slug)), pk=comparison_id)
    measures, families = bias_measures(comparison), bias_families(comparison)
    measure = request.GET.get("measure", next(iter(measures)))
    family = request.GET.get("family", next(iter(families)))
    if measure not in measures or family not in families:
        raise Http404("There is no such measure or family.")
    found, why_not = None, ""
    try:
        found = kept_bias(comparison, measure, family)
    except NothingToCompare as error:
        why_not = str(error)
    return _Asked(comparison, measure, list(map(measure_named, measures)), family, families, found, why_not)


@require_safe
def bias(request: PersonRequest, slug: str, comparison_id: int) -> HttpResponse:
    """Whether the judge favours runs of a family, long answers, or places in a list, by one measure."""
    asked = _asked(request, slug, comparison_id)
    found = asked.found
    context = {
        "campaign": asked.comparison.campaign,
        "comparison": asked.comparison,
        "measures": asked.measures,
        "measure": measure_named(asked.measure),
        "families": asked.families.items(),
        "family": asked.family,
        "family_words": FAMILIES[asked.family],
        "found": found,
        "why_not": asked.why_not,
        "sentence": sentence(found) if found else [],
        "rows": bias_rows(found) if found else [],
        "figures": [figure_content(*one) for one in found.figures] if found else [],
        "figure_forms": FORMS,
        "address": reverse("bias", args=[slug, comparison_id]),
    }
    return render(request, "metaeval/bias.html", context)


@require_safe
def bias_figure(request: PersonRequest, slug: str, comparison_id: int, name: str, form: str) -> HttpResponseBase:
    """A figure: as a file, as the page draws it, or what it shows as a table."""
    asked = _asked(request, slug, comparison_id)
    figure = next((one for one in asked.found.figures if one.name == name), None) if asked.found else None
    if figure is None:
        raise Http404("There is no such figure.")
    file_name = f"{slug}.{asked.comparison}.{asked.measure}.{asked.family}.{name}"
    return figure_response(request, figure.specification, name=file_name, form=form)
