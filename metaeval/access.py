"""The only way to what belongs to a comparison or a calibration, for a person."""

from django.http import Http404

from assessor.campaigns.models import Campaign, Condition
from assessor.studies.control_sets import control_sets_of
from assessor.studies.models import ControlSet, Sensitivity
from metaeval.calibrations import calibrations_of
from metaeval.hybrids import hybrids_of
from metaeval.matched_banks import matchings_of
from metaeval.models import Calculation, Calibration, Comparison, Figure, Hybrid
from metaeval.panels import panels_of
from metaeval.queries import comparisons_of
from metaeval.sensitivity import sensitivities_of


def campaign_comparison(campaign: Campaign, comparison_id: int) -> Comparison:
    """Return a comparison of a campaign that was reached through organized_campaign. Raises Http404."""
    comparison = comparisons_of(campaign).filter(pk=comparison_id).first()
    if comparison is None:
        raise Http404("There is no such comparison in this campaign.")
    return comparison


def last_result(comparison: Comparison) -> Calculation:
    """Return what was last computed of a comparison reached through campaign_comparison. Raises Http404."""
    done = comparison.calculations.filter(state=Calculation.State.DONE).order_by("-pk").first()
    if done is None:
        raise Http404("Nothing has been computed of this comparison yet.")
    return done


def result_figure(calculation: Calculation, name: str) -> Figure:
    """Return a figure of a result reached through last_result. Raises Http404."""
    figure: Figure | None = calculation.figures.filter(name=name).first()
    if figure is None:
        raise Http404("There is no such figure.")
    return figure


def campaign_calibration(campaign: Campaign, calibration_id: int) -> Calibration:
    """Return a calibration of a campaign that was reached through organized_campaign. Raises Http404."""
    calibration = calibrations_of(campaign).defer(None).filter(pk=calibration_id).first()
    if calibration is None:
        raise Http404("There is no such calibration in this campaign.")
    return calibration


def campaign_hybrid(campaign: Campaign, hybrid_id: int) -> Hybrid:
    """Return hybrid scores of a campaign that was reached through organized_campaign. Raises Http404."""
    hybrid = hybrids_of(campaign).filter(pk=hybrid_id).first()
    if hybrid is None:
        raise Http404("There are no such hybrid scores in this campaign.")
    return hybrid


def campaign_panel(campaign: Campaign, condition_id: int) -> Condition:
    """Return a panel of a campaign that was reached through organized_campaign. Raises Http404."""
    panel = panels_of(campaign).filter(pk=condition_id).first()
    if panel is None:
        raise Http404("There is no such panel in this campaign.")
    return panel


def campaign_matching(campaign: Campaign, condition_id: int) -> Condition:
    """Return matched banks of a campaign that was reached through organized_campaign. Raises Http404."""
    condition = matchings_of(campaign).filter(pk=condition_id).first()
    if condition is None:
        raise Http404("There are no such matched banks in this campaign.")
    return condition


def campaign_sensitivity(campaign: Campaign, study_id: int) -> Sensitivity:
    """Return a sensitivity study of a campaign that was reached through organized_campaign. Raises Http404."""
    study = sensitivities_of(campaign).filter(pk=study_id).first()
    if study is None:
        raise Http404("There is no such sensitivity study in this campaign.")
    return study


def campaign_control_set(campaign: Campaign, control_id: int) -> ControlSet:
    """Return a control set of a campaign that was reached through organized_campaign. Raises Http404."""
    control = control_sets_of(campaign).filter(pk=control_id).first()
    if control is None:
        raise Http404("There is no such control set in this campaign.")
    return control
