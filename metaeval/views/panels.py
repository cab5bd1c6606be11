"""Panels: made of conditions, shown with what they leave open, and that given to people."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.actions import ConditionError
from assessor.campaigns.http import PersonRequest
from assessor.labels.label_kind import label_kind
from assessor.scores.condition_marks import marks_by_condition
from assessor.studies import actions
from assessor.studies.actions import StudyError
from assessor.studies.panels import RULE_WORDS, settings_of
from metaeval.access import campaign_panel
from metaeval.panel_forms import PanelForm, RoutingForm
from metaeval.panels import TIES_WORDS, expected_hours, headline, marks_of, panel_report, panels_of, routings


@require_http_methods(["GET", "POST"])
def panels(request: PersonRequest, slug: str) -> HttpResponse:
    """All panels of a campaign; a POST makes a new one."""
    campaign = organized_campaign(request.user, slug)
    form = PanelForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = actions.create_panel(campaign=campaign, **form.cleaned_data, acting_user=request.user)
        except ConditionError as error:
            form.add_error(None, str(error))
        else:
            return redirect("panel", slug, made.pk)
    every = list(panels_of(campaign))
    marks = marks_by_condition(every)
    context = {
        "campaign": campaign,
        "form": form,
        "rows": [(one, settings := settings_of(one), RULE_WORDS[settings.rule], marks[one.pk]) for one in every],
    }
    return render(request, "metaeval/panels.html", context)


@require_http_methods(["GET", "POST"])
def panel(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """A panel in figures, and what it leaves to people; a POST draws that for them."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_panel(campaign, condition_id)
    form = RoutingForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            study = actions.draw_routing(panel=found, **form.cleaned_data, acting_user=request.user)
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Drawn: {study.drawn.count()} {label_kind(study.kind).items}.")
            return redirect("study", slug, study.pk)
    report, settings = panel_report(found), settings_of(found)
    context = {
        "campaign": campaign,
        "panel": found,
        "kind": label_kind(found.kind),
        "settings": settings,
        "rule": RULE_WORDS[settings.rule],
        "ties": TIES_WORDS[settings.ties] if found.panel["ties"] else "",
        "report": report,
        "prior": list(zip(report.labels, report.prior, strict=False)),
        "headline": headline(found, report),
        "marks": marks_of(found, report),
        "studies": routings(found),
        "hours": expected_hours(found, report) if settings.routes else None,
        "form": form,
    }
    return render(request, "metaeval/panel.html", context)
