from django.urls import path

from assessor.studies.models import Study
from metaeval.views import (
    biases,
    calibrations,
    comparisons,
    conditions,
    control_sets,
    hybrids,
    items,
    joint,
    judge_agreement,
    matched_banks,
    panels,
    registrations,
    reusability,
    sensitivity,
    significance,
    studies,
)

_STUDY = "campaigns/<slug:slug>/studies/<int:study_id>"
_SCORES = "campaigns/<slug:slug>/scores/<int:condition_id>"
_GRADES = "campaigns/<slug:slug>/relevance/<int:source_id>"
_CALIBRATION = "campaigns/<slug:slug>/calibrations/<int:calibration_id>"
_CONTROL_SET = "campaigns/<slug:slug>/control-sets/<int:control_id>"
_HYBRID = "campaigns/<slug:slug>/hybrids/<int:hybrid_id>"
_BANKS = "campaigns/<slug:slug>/banks/<int:condition_id>"
_SENSITIVITY = "campaigns/<slug:slug>/sensitivity/<int:study_id>"
_COMPARISON = "campaigns/<slug:slug>/comparisons/<int:comparison_id>"

urlpatterns = [
    path("campaigns/<slug:slug>/calibrations/", calibrations.calibrations, name="calibrations"),
    path("campaigns/<slug:slug>/calibrations/gate/", calibrations.calibration_gate, name="calibration_gate"),
    path(f"{_CALIBRATION}/", calibrations.calibration, name="calibration"),
    path(f"{_CALIBRATION}/figures/<str:name>.<str:form>", calibrations.calibration_figure, name="calibration_figure"),
    path("campaigns/<slug:slug>/comparisons/", comparisons.comparisons, name="comparisons"),
    path("campaigns/<slug:slug>/comparisons/tables/", comparisons.import_table, name="import_table"),
    path("campaigns/<slug:slug>/comparisons/against/<str:side>/", joint.against, name="comparisons_against"),
    path(
        "campaigns/<slug:slug>/comparisons/against/<str:side>/figures/<str:name>.<str:form>",
        joint.joint_figure,
        name="joint_figure",
    ),
    path(f"{_COMPARISON}/", comparisons.comparison, name="comparison"),
    path(f"{_COMPARISON}/again/", comparisons.compute_again, name="compute_again"),
    path(f"{_COMPARISON}/topics/<int:topic_id>/", comparisons.comparison_topic, name="comparison_topic"),
    path(f"{_COMPARISON}/bias/", biases.bias, name="bias"),
    path(f"{_COMPARISON}/bias/figures/<str:name>.<str:form>", biases.bias_figure, name="bias_figure"),
    path(f"{_COMPARISON}/figures/<str:name>.<str:form>", comparisons.comparison_figure, name="comparison_figure"),
    path("campaigns/<slug:slug>/hybrids/", hybrids.hybrids, name="hybrids"),
    path(f"{_HYBRID}/", hybrids.hybrid, name="hybrid"),
    path(f"{_HYBRID}/figures/<str:name>.<str:form>", hybrids.hybrid_figure, name="hybrid_figure"),
    path("campaigns/<slug:slug>/banks/", matched_banks.bank_matchings, name="bank_matchings"),
    path(f"{_BANKS}/", matched_banks.banks_side_by_side, name="matched_banks"),
    path(f"{_BANKS}/topics/<int:topic_id>/", matched_banks.matched_topic, name="matched_topic"),
    path("campaigns/<slug:slug>/panels/", panels.panels, name="panels"),
    path("campaigns/<slug:slug>/panels/<int:condition_id>/", panels.panel, name="panel"),
    path("campaigns/<slug:slug>/sensitivity/", sensitivity.sensitivities, name="sensitivities"),
    path(f"{_SENSITIVITY}/", sensitivity.sensitivity, name="sensitivity"),
    path(f"{_SENSITIVITY}/figures/<str:name>.<str:form>", sensitivity.sensitivity_figure, name="sensitivity_figure"),
    path(f"{_SCORES}/figures/", conditions.score_figures, name="score_figures"),
    path(f"{_SCORES}/figures/<str:name>.<str:form>", conditions.score_figure, name="score_figure"),
    path(f"{_SCORES}/reusability/", reusability.reusability_page, name="reusability"),
    path(
        f"{_SCORES}/reusability/figures/<str:name>.<str:form>",
        reusability.reusability_figure,
        name="reusability_figure",
    ),
    path(f"{_SCORES}/nuggets/", items.nugget_items, name="nugget_items"),
    path(f"{_SCORES}/nuggets/figures/<str:name>.<str:form>", items.nugget_figure, name="nugget_figure"),
    path(f"{_SCORES}/judges/", judge_agreement.label_judges, name="label_judges"),
    path(
        f"{_SCORES}/judges/figures/<str:name>.<str:form>",
        judge_agreement.label_judges_figure,
        name="label_judges_figure",
    ),
    path(f"{_GRADES}/judges/", judge_agreement.grade_judges, name="grade_judges"),
    path(
        f"{_GRADES}/judges/figures/<str:name>.<str:form>",
        judge_agreement.grade_judges_figure,
        name="grade_judges_figure",
    ),
    path(f"{_SCORES}/significance/", significance.significance, name="significance"),
    path(
        f"{_SCORES}/significance/figures/<str:name>.<str:form>",
        significance.significance_figure,
        name="significance_figure",
    ),
    path("campaigns/<slug:slug>/control-sets/", control_sets.control_sets, name="control_sets"),
    path(f"{_CONTROL_SET}/", control_sets.control_set, name="control_set"),
    path(f"{_CONTROL_SET}/ask/", control_sets.ask_control_set, name="ask_control_set"),
    path("campaigns/<slug:slug>/registrations/", registrations.registrations, name="registrations"),
    path("campaigns/<slug:slug>/registrations/<int:registration_id>/", registrations.registration, name="registration"),
    path("campaigns/<slug:slug>/studies/", studies.studies, name="studies"),
    path(
        "campaigns/<slug:slug>/adjudication/",
        studies.studies,
        {"purpose": Study.Purpose.ADJUDICATION},
        name="adjudication",
    ),
    path(
        "campaigns/<slug:slug>/rejudging/",
        studies.studies,
        {"purpose": Study.Purpose.REJUDGING},
        name="rejudging",
    ),
    path(f"{_STUDY}/", studies.study, name="study"),
    path(f"{_STUDY}/give/", studies.give, name="give_study"),
    path(f"{_STUDY}/ask/", studies.ask, name="ask_study"),
    path(f"{_STUDY}/codes/", studies.define_code, name="define_code"),
    path(f"{_STUDY}/items/<int:drawn_id>/", studies.code_item, name="code_item"),
    path(f"{_STUDY}/figures/<str:name>.<str:form>", studies.study_figure, name="study_figure"),
]
