"""Calibrations of judges: made, listed, shown with tables and a figure, and as files; and the gate they must pass."""

from typing import TYPE_CHECKING

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest, download
from assessor.campaigns.models import Campaign
from assessor.work.exposure import take_file
from metaeval.access import campaign_calibration
from metaeval.actions import create_calibration, set_calibration_gate
from metaeval.calibration_forms import CalibrateForm, GateForm
from metaeval.calibrations import (
    FILES,
    NotCalibrated,
    at_least,
    calibrations_of,
    file_lines,
    gate_of,
    headline,
    judged_conditions,
    passes,
    uncalibrated,
)
from metaeval.charts.rendering import FORMS
from metaeval.exposure import seen_in_calibration
from metaeval.models import Calibration
from metaeval.pages import figure_content
from metaeval.stats.calibration import MARGIN
from metaeval.views.figures import figure_response

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

_ON_A_PAGE = 50


@require_http_methods(["GET", "POST"])
def calibrations(request: PersonRequest, slug: str) -> HttpResponse:
    """The calibrations so far, by the newest, the form of a new one, and the gate."""
    campaign = organized_campaign(request.user, slug)
    form = CalibrateForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = create_calibration(campaign=campaign, **form.cleaned_data, acting_user=request.user)
        except NotCalibrated as error:
            form.add_error(None, str(error))
        else:
            return redirect("calibration", slug, made.pk)
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


def _list(request: PersonRequest, campaign: Campaign, form: CalibrateForm, gate_form: GateForm) -> HttpResponse:
    gate, judged = gate_of(campaign), judged_conditions(campaign)
    lacking = uncalibrated(campaign, judged)
    page = Paginator(calibrations_of(campaign), _ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
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
        "files": FILES,
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


@require_safe
def calibration_file(request: PersonRequest, slug: str, calibration_id: int, name: str) -> HttpResponseBase:
    """All figures of a calibration as CSV or JSON."""
    found = campaign_calibration(organized_campaign(request.user, slug), calibration_id)
    if name not in FILES:
        raise Http404("There is no such file.")
    take_file(request.user, seen_in_calibration(found))
    ending = name.rpartition(".")[2]
    return download(f"{slug}.calibration-{found.pk}.{ending}", file_lines(found, name))


def _figure(found: Calibration) -> "NamedFigure":
    from metaeval.charts.calibration import reliability_figure

    result = found.result
    return reliability_figure(result["labels"], at_least(result), result["curve"])
