"""Calibrations of judges: asked for, listed, shown with tables and a figure; and the gate they must pass."""

from typing import TYPE_CHECKING, Any

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
from metaeval.background import send_hint
from metaeval.calibration_forms import CalibrateForm, GateForm
from metaeval.calibrations import (
    CSV,
    JSON,
    at_least,
    calibrations_of,
    gate_of,
    headlines,
    judged_conditions,
    open_requests,
    passes,
    step_rows,
    uncalibrated,
)
from metaeval.charts.rendering import FORMS
from metaeval.models import Calibration
from metaeval.pages import figure_content
from metaeval.stats.calibration import MARGIN
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
    """What a calibration found: where things are judged in steps a row for each, and then all of one."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_calibration(campaign, calibration_id)
    gate, result, at = gate_of(campaign), found.result, _step(request, found)
    step, rows = result["steps"][at], step_rows(result, gate)
    words, figure = result["labels"], _figure(found, step)
    context = {
        "campaign": campaign,
        "calibration": found,
        "result": result,
        "step": step,
        "steps": rows if step["name"] else [],
        "query": request.GET.urlencode(),
        "sentence": headlines(found)[at],
        "gate": gate,
        "passes": rows[at].passes,
        "has_weights": len(words) > 2,  # of two labels κ is the same with weights
        "all_labels": step["strata"][0],
        "strata": [(one, list(zip(words, one["rows"], strict=True))) for one in step["strata"]],
        "given_human": list(zip(words, step["model_given_human"], strict=True)),
        "shares": list(zip(words, step["transfer"]["shares"], strict=False)),
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
    step = found.result["steps"][_step(request, found)]
    figure = _figure(found, step)
    if name != figure.name:
        raise Http404("There is no such figure.")
    file_name = ".".join(filter(None, (slug, f"calibration-{found.pk}", step["name"], name)))
    return figure_response(request, figure.specification, name=file_name, form=form)


def _step(request: PersonRequest, found: Calibration) -> int:
    """Return the place of the step that an address asks for, or of the first one. Raises Http404."""
    names = [one["name"] for one in found.result["steps"]]
    asked = request.GET.get("step", names[0])
    if asked not in names:
        raise Http404("There is no such step.")
    return names.index(asked)


def _figure(found: Calibration, step: dict[str, Any]) -> "NamedFigure":
    from metaeval.charts.calibration import reliability_figure

    return reliability_figure(found.result["labels"], at_least(found.result), step["curve"])
