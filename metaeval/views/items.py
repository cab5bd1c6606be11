"""The nuggets of one condition as items: a table, figures, and how short a bank may be."""

import re
from bisect import bisect_right

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from assessor.labels.label_kind import label_kind
from assessor.scores.page_tables import Listing
from assessor.scores.sorting import shown
from assessor.scores.views import scored_condition
from metaeval.item_analysis import (
    ItemAnalysis,
    columns,
    has_items,
    item_analysis,
    item_figures,
    sentence,
    sorted_nuggets,
)
from metaeval.kept_results import kept_result
from metaeval.score_report import measured_hours
from metaeval.stats.items import Flag
from metaeval.views.figures import figure_response, later_figures

_ON_A_PAGE = 50


@require_safe
def nugget_items(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """The nuggets, all or some, sorted by a column; how short a bank may be; the figures, which htmx asks for."""
    condition = _with_items(request, slug, condition_id)
    address = reverse("nugget_items", args=[slug, condition_id])
    if request.htmx:
        return later_figures(request, item_figures(condition), address, are_of_query=False)
    item, scores_address = label_kind(condition.kind).item, address.removesuffix("nuggets/")
    found, consistency = _drawn(condition, item, scores_address)
    flag = _flag(request.GET.get("flag", ""))
    asked = request.GET.copy()
    asked.pop("page", None)  # sorted anew, the table is read from its start
    heads = shown(asked, Listing(columns(item), [], [], []), "r").heads
    keep = _keep(request.GET.get("keep", ""))
    some = [
        one for one in (found.nuggets if keep is None else found.dropped(keep)) if flag is None or flag in one.flags
    ]
    hours = measured_hours(condition) * len(found.topics)
    flagged, places = found.flagged, sorted(one.place for one in found.nuggets)
    context = {
        "campaign": condition.campaign,
        "condition": condition,
        "item": item,
        "found": found,
        "sentence": sentence(found, item, hours),
        "flags": [(one.name.lower(), one, flagged[one]) for one in Flag],
        "flag": flag,
        "keep": keep,
        "short_banks": [
            (one, len(places) - bisect_right(places, one.nuggets), hours * (1 - one.share)) for one in found.curve[:-1]
        ],
        "hours": hours,
        "heads": heads,
        "page": Paginator(sorted_nuggets(some, request.GET.get("sort", "r")), _ON_A_PAGE).get_page(
            request.GET.get("page")
        ),
        "consistency": consistency,
        "address": address,
        "scores_address": scores_address,
    }
    return render(request, "metaeval/nugget_items.html", context)


def _drawn(condition: Condition, item: str, scores_address: str) -> tuple[ItemAnalysis, SafeString]:
    """Return the statistics of nuggets, and the table of topics as the page has it: of a track it has hundreds."""

    def draw() -> tuple[ItemAnalysis, SafeString]:
        found = item_analysis(condition)
        topics = sorted(found.topics, key=lambda one: (one.alpha.value is None, one.alpha.value or 0.0))
        context = {"item": item, "scores_address": scores_address, "topics": topics}
        return found, render_to_string("metaeval/_consistency.html", context)

    return kept_result([condition], f"items.drawn.{condition.campaign.slug}", draw)


@require_safe
def nugget_figure(request: PersonRequest, slug: str, condition_id: int, name: str, form: str) -> HttpResponseBase:
    """A figure: as a file, as the page draws it, or what it shows as a table."""
    condition = _with_items(request, slug, condition_id)
    figure = next((one for one in item_figures(condition) if one.name == name), None)
    if figure is None:
        raise Http404("There is no such figure.")
    return figure_response(request, figure.specification, name=f"{slug}.{condition}.{name}", form=form)


def _with_items(request: PersonRequest, slug: str, condition_id: int) -> Condition:
    condition = scored_condition(organized_campaign(request.user, slug), condition_id)
    if not has_items(condition):
        raise Http404("No nuggets of answers are labelled under this condition.")
    return condition


def _keep(number: str) -> int | None:
    """Return how many nuggets of each topic are kept. Raises Http404."""
    if not number:
        return None
    if not re.fullmatch("[1-9][0-9]{0,3}", number):
        raise Http404("A topic keeps a number of nuggets, at least one.")
    return int(number)


def _flag(name: str) -> Flag | None:
    """Return a flag by its name in addresses. Raises Http404."""
    if not name:
        return None
    try:
        return Flag[name.upper()]
    except KeyError as error:
        raise Http404("There is no such flag.") from error
