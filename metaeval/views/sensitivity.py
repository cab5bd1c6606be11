"""Sensitivity studies: designed and drawn, launched once their cost is known, and what came of them."""

from math import isnan
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.labels.label_kind import label_kind
from assessor.llm.actions import JobError, Plan
from assessor.llm.models import Job
from assessor.studies.actions import StudyError
from assessor.studies.models import Sensitivity
from assessor.studies.sensitivity import Variant, conditions_of, is_crossed, is_labelled, variants_of
from assessor.studies.sensitivity_actions import draw_sensitivity, launch_variants, plan_variants, total_estimate
from metaeval.access import campaign_sensitivity
from metaeval.measures import measure_labels
from metaeval.sensitivity import (
    SensitivityResult,
    VariantResult,
    changes,
    measure_choices,
    sensitivities_of,
    sensitivity_figures,
    sensitivity_result,
    sentence,
    span,
)
from metaeval.sensitivity_forms import SensitivityForm, VariantsForm
from metaeval.sensitivity_tables import TABLES
from metaeval.stats.calibration import Estimate
from metaeval.stats.means import Figures
from metaeval.stats.statistic import Statistic
from metaeval.views.figures import figure_response, later_figures


@require_http_methods(["GET", "POST"])
def sensitivities(request: PersonRequest, slug: str) -> HttpResponse:
    """All sensitivity studies of a campaign; a POST draws the sample of a new one."""
    campaign = organized_campaign(request.user, slug)
    form = SensitivityForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            study = draw_sensitivity(**form.design, acting_user=request.user)
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            answers = len(study.topics) * len(study.runs)
            messages.success(request, f"Drawn: {answers} answers. Estimate the cost, then launch.")
            return redirect("sensitivity", slug, study.pk)
    rows = [(one, len(variants_of(one.factors))) for one in sensitivities_of(campaign)]
    return render(request, "metaeval/sensitivities.html", {"campaign": campaign, "form": form, "rows": rows})


@require_http_methods(["GET", "POST"])
def sensitivity(request: PersonRequest, slug: str, study_id: int) -> HttpResponse:
    """A study with its variants and what came of them; figures, asked for by htmx.

    A POST says what the jobs of all variants will take, and launches them once that was read.
    """
    campaign = organized_campaign(request.user, slug)
    study = campaign_sensitivity(campaign, study_id)
    measures, measure = _measures(request, study)
    if request.htmx:
        figures = sensitivity_figures(study, measure, measures[measure])
        return later_figures(request, figures, reverse("sensitivity", args=[slug, study_id]))
    form, plans = VariantsForm(request.POST if request.method == "POST" else None), None
    if request.method == "POST" and form.is_valid():
        try:
            plans = plan_variants(study)
            if "launch" in request.POST:
                jobs = launch_variants(plans, **form.cleaned_data, acting_user=request.user)
                messages.success(request, f"{len(jobs)} job{'s' if len(jobs) > 1 else ''} launched, one a variant.")
                return redirect("sensitivity", slug, study_id)
        except JobError as error:
            form.add_error(None, str(error))
    found = sensitivity_result(study, measure)
    context = {
        "campaign": campaign,
        "study": study,
        "kind": label_kind(study.kind),
        "is_crossed": is_crossed(study.factors),
        "form": form,
        "budget": [form["most_cost"], form["most_calls"]],
        "rows": _rows(study, plans),
        "plans": plans,
        "is_labelled": is_labelled(study) if plans is None else not any(one.expected.calls for one in plans.values()),
        "total": _total(plans) if plans else None,
        "found": found,
        "measures": measures,
        "measure": measure,
        "label": measure_labels([measure])[measure],
        "tables": list(TABLES),
        **(_tables(found) if found.has_comparisons else {}),
    }
    return render(request, "metaeval/sensitivity.html", context)


def _measures(request: PersonRequest, study: Sensitivity) -> tuple[dict[str, str], str]:
    """Return the measures in words, by key, and which one is asked for. Raises Http404."""
    measures = measure_choices(study)
    measure = request.GET.get("measure", next(iter(measures)))
    if measure not in measures:
        raise Http404("There is no such measure.")
    return measures, measure


def _rows(study: Sensitivity, plans: dict[Variant, Plan] | None) -> list[dict[str, Any]]:
    """Return all variants by their numbers, each with its condition and newest job, and what is estimated."""
    variants, made = variants_of(study.factors), conditions_of(study)
    jobs = {one.condition_id: one for one in Job.objects.filter(condition__in=made.values()).order_by("pk")}
    rows = []
    for number, variant in enumerate(variants, start=1):
        condition = made.get(variant)
        plan = plans.get(variant) if plans else None
        job = jobs.get(condition.pk) if condition else None
        name = variant.in_words(variants[0])
        rows.append({"number": number, "name": name, "condition": condition, "job": job, "plan": plan})
    return rows


def _total(plans: dict[Variant, Plan]) -> dict[str, Any]:
    """Return what all plans take together. cost: None where no judge has prices."""
    has_prices = any(plan.judge.price_in or plan.judge.price_out for plan in plans.values())
    total = total_estimate(plans)
    return total if has_prices else total | {"cost": None}


def _tables(found: SensitivityResult) -> dict[str, Any]:
    """Return the tables of a result, as the page has them."""
    by_mean = sorted(range(len(found.runs)), key=lambda at: (isnan(found.means[0, at]), -found.means[0, at]))
    return {
        "sentence": sentence(found),
        "floor": span([rate.value for rate in found.floor if rate.value is not None]),
        "results": [(one, _figures(one, *changes(found, at))) for at, one in enumerate(found.variants)],
        "shares": [(one, _percent(one.spread.share)) for one in found.shares],
        "of_topics": _percent(found.of_topics),
        "run_rows": [
            (
                found.runs[at],
                "—" if isnan(found.means[0, at]) else f"{found.means[0, at]:.3f}",
                _ranks(found.ranks[:, at]),
                int(found.order[at].sum()),
                int(found.order[:, at].sum()),
            )
            for at in by_mean
        ],
        "others": len(found.runs) - 1,
    }


def _figures(variant: VariantResult, change: float, largest: float) -> list[str]:
    """Return a row of the table of variants; what is undefined has its reason in the files."""
    rate, agreement = variant.flips or (None, None)
    flips = ["—"] * 5
    if rate and agreement:
        has_interval = rate.low is not None and rate.high is not None
        interval = f"{100 * (rate.low or 0):.1f} to {100 * (rate.high or 0):.1f} %" if has_interval else "—"
        shares = [_short(_percent(one)) for one in (rate, agreement.above, agreement.below)]
        flips = [shares[0], interval, *shares[1:], _three(agreement.unweighted)]
    return [*flips, _signed(change), _signed(largest), _three(variant.tau), _three(variant.with_people)]


def _three(value: Statistic) -> str:
    return "—" if value.value is None else f"{value.value:.3f}"


def _short(told: str) -> str:
    return told[0] if told.startswith("—") else told


def _percent(share: Statistic | Estimate) -> str:
    return f"— {share.why}" if share.value is None else f"{100 * share.value:.1f} %"


def _signed(change: float) -> str:
    return "—" if isnan(change) else f"{change:+.3f}"


def _ranks(ranks: Figures) -> str:
    low, high = float(ranks.min()), float(ranks.max())
    if isnan(low):
        return "—"
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


@require_safe
def sensitivity_figure(request: PersonRequest, slug: str, study_id: int, name: str, form: str) -> HttpResponseBase:
    """A figure of a study: as a file, as the page draws it, or what it shows as a table."""
    campaign = organized_campaign(request.user, slug)
    study = campaign_sensitivity(campaign, study_id)
    measures, measure = _measures(request, study)
    figures = {one.name: one for one in sensitivity_figures(study, measure, measures[measure])}
    if name not in figures:
        raise Http404("There is no such figure.")
    file_name = f"{campaign.slug}.sensitivity.{study.pk}.{name}"
    return figure_response(request, figures[name].specification, name=file_name, form=form)
