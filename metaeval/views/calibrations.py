"""Calibrations of judges: asked for, listed, shown with tables and a figure; and the gate they must pass."""

from typing import TYPE_CHECKING

from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign
from metaeval.access import campaign_calibration
from metaeval.actions import request_calibration, set_calibration_gate
from metaeval.calibration_forms import CalibrateForm, GateForm
from metaeval.calibrations import (
    CSV,
    JSON,
    at_least,
    calibrations_of,
    gate_of,
    headline,
    judged_conditions,
    open_requests,
    passes,
    uncalibrated,
)
from metaeval.charts.rendering import FORMS
from metaeval.models import Calibration
from metaeval.pages import figure_content
from metaeval.stats.calibration import MARGIN
from metaeval.tasks import send_hint
from metaeval.views.figures import figure_response

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

_ON_A_PAGE = 50


@require_http_methods(["GET", "POST"])
def calibrations(request: PersonRequest, slug: str) -> HttpResponse:
    """The calibrations so far, by the newest, the form of a new one, which goes to the background, and the gate.

    While one is computed, htmx asks each second how far it is.
    """
    campaign = organized_campaign(request.user, slug)
    form = CalibrateForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            send_hint(request_calibration(campaign=campaign, **form.cleaned_data, acting_user=request.user))
        return redirect("calibrations", slug)
    if request.htmx:
        return _progress(request, campaign)
    return _list(request, campaign, form, GateForm(campaign))


@require_POST
def calibration_gate(request: PersonRequest, slug: str) -> HttpResponse:
    """Set the gate."""
    campaign = organized_campaign(request.user, slug)
    form = GateForm(campaign, request.POST)
    if form.is_valid():
        set_calibration_gate(form.save(commit=False), acting_user=request.user)
        return redirect("calibrations", slug)
    return _list(request, campaign, CalibrateForm(campaign), form)


def _under_way(campaign: Campaign) -> dict[str, object]:
    requests = open_requests(campaign)
    return {"campaign": campaign, "requests": requests, "is_active": any(not one.is_over for one in requests)}


def _progress(request: PersonRequest, campaign: Campaign) -> HttpResponse:
    under_way = _under_way(campaign)
    response = render(request, "metaeval/calibrations.html#progress", under_way)
    if not under_way["is_active"]:
        response["HX-Refresh"] = "true"  # what came of them takes the whole page
    return response


def _list(request: PersonRequest, campaign: Campaign, form: CalibrateForm, gate_form: GateForm) -> HttpResponse:
    gate, judged = gate_of(campaign), judged_conditions(campaign)
    lacking = uncalibrated(campaign, judged)
    page = Paginator(calibrations_of(campaign), _ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        **_under_way(campaign),
        "form": form,
        "gate": gate,
        "gate_form": gate_form,
        "page": page,
        "rows": [(one, bool(gate and passes(one, gate))) for one in page.object_list],
        "uncalibrated": [one for one in judged if one.pk in lacking],
    }
    return render(request, "metaeval/calibrations.html", context)


@require_safe
def calibration(request: PersonRequest, slug: str, calibration_id: int) -> HttpResponse:
    """What a calibration found."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_calibration(campaign, calibration_id)
    gate, result, figure = gate_of(campaign), found.result, _figure(found)
    words = result["labels"]
    context = {
        "campaign": campaign,
        "calibration": found,
        "result": result,
        "sentence": headline(found),
        "gate": gate,
        "passes": bool(gate and passes(found, gate)),
        "all_labels": result["strata"][0],
        "strata": [(one, list(zip(words, one["rows"], strict=True))) for one in result["strata"]],
        "given_human": list(zip(words, result["model_given_human"], strict=True)),
        "shares": list(zip(words, result["transfer"]["shares"], strict=False)),
        "margin": MARGIN,
        "threshold": at_least(result),
        "figures": [figure_content(figure.name, figure.title, figure.specification)],
        "figure_forms": FORMS,
        "address": reverse("calibration", args=[slug, found.pk]),
        "files": (CSV, JSON),
    }
    return render(request, "metaeval/calibration.html", context)


@require_safe
def calibration_figure(
    request: PersonRequest, slug: str, calibration_id: int, name: str, form: str
) -> HttpResponseBase:
    """The figure as a file, as the page draws it, or what it shows as a table."""
    found = campaign_calibration(organized_campaign(request.user, slug), calibration_id)
    figure = _figure(found)
    if name != figure.name:
        raise Http404("There is no such figure.")
    file_name = f"{slug}.calibration-{found.pk}.{name}"
    return figure_response(request, figure.specification, name=file_name, form=form)


def _figure(found: Calibration) -> "NamedFigure":
    from metaeval.charts.calibration import reliability_figure

    result = found.result
    return reliability_figure(result["labels"], at_least(result), result["curve"])
