"""What can be exported of comparisons and studies, and of what scores tell of runs, nuggets and teams."""

from collections.abc import Callable, Iterator

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from assessor.campaigns.models import Campaign
from assessor.exportables import (
    CSV,
    LATEX,
    Chosen,
    Exportable,
    Form,
    Order,
    Page,
    Purpose,
    Subject,
    always,
    of_conditions,
    only_of,
)
from assessor.scores.leaderboards import POLICY_WORDS
from assessor.scores.score_source import scored_conditions
from assessor.studies import queries
from assessor.studies.control_sets import control_sets_of
from assessor.studies.models import Study
from assessor.work.exposure import Seen
from metaeval import bias_tables, calibrations, sensitivity, sensitivity_tables
from metaeval.biases import bias_families, bias_measures, biased
from metaeval.calibrations import calibrations_of
from metaeval.control_sets import pass_lines
from metaeval.exposure import (
    seen_in_calibration,
    seen_in_comparison,
    seen_in_hybrid,
    seen_in_scores,
    seen_in_sensitivity,
    seen_in_study,
    seen_of_judges,
)
from metaeval.hybrid_tables import file_lines
from metaeval.hybrids import hybrids_of
from metaeval.item_analysis import table_lines as nugget_lines
from metaeval.item_analysis import with_items
from metaeval.joint import table_lines
from metaeval.judge_agreement import TABLES as TABLES_OF_JUDGES
from metaeval.judge_agreement import Judge, choose_judges, judge_agreement
from metaeval.matched_banks import file_lines as file_lines_of_banks
from metaeval.matched_banks import matchings_of, seen_in_matching
from metaeval.measures import absolute_choices, measure_choices
from metaeval.models import Calculation, Comparison
from metaeval.panels import file_lines as file_lines_of_panel
from metaeval.panels import panels_of
from metaeval.report import JSON, report_text
from metaeval.report_tables import FILES
from metaeval.reusability import csv_lines, kept_reusability, latex_lines
from metaeval.revisions import score_lines as revised_lines
from metaeval.significance import CELLS_WORDS, METHOD_WORDS, TABLES, kept_significance, significance_tables
from metaeval.stats.layout import Cells
from metaeval.stats.means import Policy
from metaeval.stats.multiple_comparisons import Method
from metaeval.stats.score_matrix import POLICIES
from metaeval.studies import (
    distribution_lines,
    item_lines,
    result_lines,
    study_json,
    study_result,
    study_results,
)
from metaeval.topic_diagnosis import diagnosed, influence_lines, influence_measures


def _computed(campaign: Campaign) -> QuerySet[Comparison]:
    """Return the comparisons of which there is a result, with the newest one's files."""
    done = Calculation.objects.filter(comparison=OuterRef("pk"), state=Calculation.State.DONE).order_by("-pk")
    comparisons = Comparison.objects.filter(Exists(done), campaign=campaign)
    return comparisons.annotate(files=Subquery(done.values("files")[:1])).order_by("name")


def _comparison_lines(chosen: Chosen) -> Iterator[str]:
    done = chosen.record.calculations.filter(state=Calculation.State.DONE)
    newest = done.select_related("comparison__topics_of", "comparison__campaign").order_by("-pk")[0]
    text = report_text(newest, chosen.form)
    return iter([text] if chosen.form == JSON else text.splitlines(keepends=True))


def _studies(campaign: Campaign) -> QuerySet[Study]:
    sides = ("first", "first__judge", "first__nuggets__judge", "second", "second__judge", "second__nuggets__judge")
    return campaign.studies.select_related("campaign", *sides)


_OF_A_STUDY: dict[str, Callable[[Study], Iterator[str]]] = {
    "items.csv": item_lines,
    "agreement.csv": lambda study: result_lines([study_result(study)]),
    "labels.csv": lambda study: distribution_lines(study_result(study)),
    "json": lambda study: iter([study_json(study_result(study)) + "\n"]),
}

_OF_A_REJUDGING = {"scores.csv": revised_lines}

_WITH_ITEMS = of_conditions("condition in which nuggets of answers are labelled", with_items)


def _significance_lines(chosen: Chosen) -> Iterator[str]:
    asked = chosen.asked
    found = kept_significance(chosen.record, Cells(asked["policy"]), asked["measure"])
    return significance_tables(found, Method(asked["correction"]))[chosen.form]


def _pairs_or_runs(chosen: Chosen) -> int:
    runs: int = chosen.campaign.runs.count()
    return runs * (runs - 1) // 2 if chosen.form == "pairs.csv" else runs


def _reusability_lines(chosen: Chosen) -> Iterator[str]:
    found = kept_reusability(chosen.record, Policy(chosen.asked["policy"]), chosen.asked["measure"])
    assert found is not None, "nuggets of answers are labelled"
    return csv_lines(found) if chosen.form == "csv" else latex_lines(found)


def _judges_lines(chosen: Chosen) -> Iterator[str]:
    policy, measure = Policy(chosen.asked.get("policy", Policy.ZERO)), chosen.asked.get("measure", "")  # grades: none
    return TABLES_OF_JUDGES[chosen.form](judge_agreement(chosen.record, _judges(chosen), policy, measure))


def _judges(chosen: Chosen) -> list[Judge]:
    return choose_judges(chosen.record, chosen.asked.get("judges", ""))


def _influence_lines(chosen: Chosen) -> Iterator[str]:
    topics = chosen.topics or chosen.campaign.topics.all()
    return influence_lines(chosen.record, sorted(topics, key=lambda one: one.qid), chosen.asked["measure"])


def _influence_seen(chosen: Chosen) -> Seen:
    for record, topics in seen_in_comparison(chosen.record):
        yield record, topics if chosen.topics is None else topics.filter(pk__in=[one.pk for one in chosen.topics])


_OF_JUDGES = {name: Form(name, name, heads=int(name.endswith(".csv"))) for name in TABLES_OF_JUDGES}

EXPORTABLES = (
    Exportable(
        "comparison",
        "Comparisons",
        {name: Form(name, name, heads=int(name.endswith(".csv"))) for name in (JSON, *FILES)},
        _comparison_lines,
        lambda it: 1,
        Order.COMPARISONS,
        Subject("comparison", "comparison with a result", _computed),
        made=lambda comparison: (JSON, *comparison.files),
        shows=lambda it: seen_in_comparison(it.record),
        page=Page("comparison_file", "comparisons/<int:comparison_id>/files/<str:name>", file_name="{of}.{form}"),
    ),
    Exportable(
        "agreement",
        "Agreement of all comparisons, by reference",
        CSV | LATEX,
        lambda it: table_lines(it.campaign, it.form),
        lambda it: 0,
        Order.COMPARISONS,
    ),
    Exportable(
        "registration",
        "Registered studies",
        {"json": Form("JSON, as it was hashed", "json")},
        lambda it: iter([it.record.text]),
        lambda it: 1,
        Order.COMPARISONS,
        Subject("registration", "registered study", lambda campaign: campaign.registrations.all(), field="title"),
        page=Page("registration_file", "registrations/<int:registration_id>/registration.<str:form>"),
    ),
    Exportable(
        "hybrid",
        "Hybrid scores, of people and a model",
        {
            "csv": Form("CSV", "csv", heads=1),
            "pairs.csv": Form("Pairs of runs (CSV)", "pairs.csv", heads=1),
            "tot": Form("tot", "tot.txt"),
        },
        lambda it: file_lines(it.record, it.form),
        lambda it: it.campaign.runs.count(),
        Order.COMPARISONS,
        Subject("hybrid", "hybrid scores", lambda campaign: hybrids_of(campaign).order_by("name")),
        label="Hybrid scores",
        shows=lambda it: seen_in_hybrid(it.record),
        page=Page("hybrid_file", "hybrids/<int:hybrid_id>/files/<str:form>"),
    ),
    Exportable(
        "panel",
        "Panels: labels of members, and the panel's",
        {"csv": Form("CSV", "csv", heads=1), "json": Form("JSON", "json")},
        lambda it: file_lines_of_panel(it.record, it.form),
        lambda it: it.campaign.runs.count(),
        Order.COMPARISONS,
        of_conditions("panel", panels_of),
        label="Panels of models",
        of_labels=always,
        shows=lambda it: seen_in_scores(it.record),
        frozen=lambda condition: condition if condition.is_panel else None,
        freezes=("csv",),
        releases=("csv",),
        page=Page("panel_file", "panels/<int:condition_id>/files/<str:form>"),
    ),
    Exportable(
        "matched_banks",
        "Banks side by side: nuggets that match, recall, precision, importance",
        {"csv": Form("CSV", "csv", heads=1), "json": Form("JSON", "json")},
        lambda it: file_lines_of_banks(it.record, it.form),
        lambda it: 0,
        Order.COMPARISONS,
        of_conditions("condition in which banks are matched", matchings_of),
        label="Banks side by side",
        of_labels=always,
        shows=lambda it: seen_in_matching(it.record),
        frozen=only_of("matching"),
        freezes=("csv",),
        page=Page("matched_banks_file", "banks/<int:condition_id>/files/<str:form>"),
    ),
    Exportable(
        "sensitivity",
        "Sensitivity studies: labels and ranks in each way of asking a judge",
        {name: Form(name, name, heads=int(name.endswith(".csv"))) for name in sensitivity_tables.TABLES},
        lambda it: sensitivity_tables.file_lines(it.record, it.form, it.asked["measure"]),
        lambda it: 1,
        Order.COMPARISONS,
        Subject("sensitivity", "sensitivity study that was launched", sensitivity.launched),
        label="Sensitivity studies",
        of_labels=always,
        shows=lambda it: seen_in_sensitivity(it.record),
        choices={"measure": sensitivity.measure_choices},
        page=Page("sensitivity_file", "sensitivity/<int:sensitivity_id>/files/<str:form>"),
    ),
    Exportable(
        "calibration",
        "Calibration of a judge",
        {calibrations.CSV: Form("CSV", "csv", heads=1), calibrations.JSON: Form("JSON", "json")},
        lambda it: calibrations.file_lines(it.record, it.form),
        lambda it: it.record.labels,
        Order.COMPARISONS,
        Subject("calibration", "calibration", lambda campaign: calibrations_of(campaign).defer(None).order_by("name")),
        label="Calibrations of judges",
        shows=lambda it: seen_in_calibration(it.record),
        page=Page("calibration_file", "calibrations/<int:calibration_id>/files/<str:form>"),
    ),
    Exportable(
        "study",
        "Studies",
        {name: Form(name, name, heads=int(name.endswith(".csv"))) for name in _OF_A_STUDY | _OF_A_REJUDGING},
        lambda it: (_OF_A_STUDY | _OF_A_REJUDGING)[it.form](it.record),
        lambda it: it.record.drawn.count(),
        Order.COMPARISONS,
        Subject("study", "study", _studies),
        label="Disagreement studies, adjudications and re-judging",
        made=lambda study: (*_OF_A_STUDY, *(_OF_A_REJUDGING if study.is_rejudging else ())),
        shows=lambda it: seen_in_study(it.record),
        page=Page("export_study", "studies/<int:study_id>/export/<str:form>"),
    ),
    Exportable(
        "studies",
        "How far the judges of all studies agree",
        CSV,
        lambda it: result_lines(study_results(list(queries.studies_of(it.campaign)))),
        lambda it: it.campaign.studies.count(),
        Order.COMPARISONS,
        label="Agreement of all studies",
        page=Page("export_studies", "studies.csv"),
    ),
    Exportable(
        "control-set",
        "Control set",
        CSV,
        lambda it: pass_lines(it.record),
        lambda it: it.record.checks.count(),
        Order.COMPARISONS,
        Subject("control-set", "control set", control_sets_of, "study__name"),
        label="Control sets of judges",
        page=Page("export_control_set", "control-sets/<int:control_id>/export/<str:form>"),
    ),
    Exportable(
        "significance",
        "Significance: runs in groups that do not differ, and all pairs of runs",
        {name: Form(name, name, heads=int(name.endswith(".csv"))) for name in TABLES},
        _significance_lines,
        _pairs_or_runs,
        Order.COMPARISONS,
        of_conditions("scored condition", scored_conditions),
        label="Significance (runs with letters, pairs of runs)",
        of_labels=always,
        shows=lambda it: seen_in_scores(it.record),
        choices={
            "measure": measure_choices,
            "policy": lambda condition: CELLS_WORDS,
            "correction": lambda condition: {Method.TUKEY: "", **METHOD_WORDS},
        },
        page=Page("significance_table", "scores/<int:condition_id>/significance/tables/<str:form>"),
    ),
    Exportable(
        "items",
        "Nuggets as items: how hard they are, and how well they tell runs apart",
        CSV | LATEX,
        lambda it: nugget_lines(it.record, it.form),
        lambda it: 0,
        Order.COMPARISONS,
        _WITH_ITEMS,
        label="Nuggets as items (difficulty and discrimination)",
        of_labels=always,
        shows=lambda it: seen_in_scores(it.record),
        page=Page("nugget_table", "scores/<int:condition_id>/nuggets/table.<str:form>"),
    ),
    Exportable(
        "reusability",
        "Reusability: what scores and ranks change without a team's nuggets",
        CSV | LATEX,
        _reusability_lines,
        lambda it: 0,
        Order.COMPARISONS,
        _WITH_ITEMS,
        label="Reusability (without a team's nuggets)",
        of_labels=always,
        shows=lambda it: seen_in_scores(it.record),
        choices={
            "measure": absolute_choices,
            "policy": lambda condition: POLICY_WORDS,
        },
        page=Page("reusability_table", "scores/<int:condition_id>/reusability/table.<str:form>"),
    ),
    Exportable(
        "bias",
        "Biases of a judge: for runs of a family of models, for length, for places in lists",
        CSV | LATEX,
        lambda it: bias_tables.table_lines(it.record, it.form, it.asked),
        lambda it: 0,
        Order.COMPARISONS,
        Subject("comparison", "comparison of a judge's scores", biased),
        label="Biases of a judge (family, length, place)",
        of_labels=always,
        shows=lambda it: seen_in_comparison(it.record),
        choices={"measure": bias_measures, "family": bias_families},
        page=Page("bias_table", "comparisons/<int:comparison_id>/bias/table.<str:form>"),
    ),
    Exportable(
        "judges",
        "Judges of the same items: how far each two agree on labels and on the ranking of runs",
        _OF_JUDGES,
        _judges_lines,
        lambda it: 0,
        Order.COMPARISONS,
        of_conditions("scored condition, against which all others with the same items are held", scored_conditions),
        label="All judges of the same items",
        of_labels=always,
        shows=lambda it: seen_of_judges(_judges(it)),
        choices={
            "measure": absolute_choices,
            "policy": lambda condition: {one: POLICY_WORDS[one] for one in POLICIES},
        },
        asks=("judges",),
        page=Page("label_judges_table", "scores/<int:condition_id>/judges/tables/<str:form>"),
    ),
    Exportable(
        "grade_judges",
        "Judges of passages: how far each two agree on grades",
        _OF_JUDGES,
        _judges_lines,
        lambda it: 0,
        Order.COMPARISONS,
        Subject("source", "source of grades", lambda campaign: campaign.qrels_sources.order_by("name")),
        label="All judges of passages",
        of_labels=always,
        shows=lambda it: seen_of_judges(_judges(it)),
        asks=("judges",),
        page=Page("grade_judges_table", "relevance/<int:source_id>/judges/tables/<str:form>"),
    ),
    Exportable(
        "influence",
        "Influence of each nugget on the agreement of two conditions on its topic",
        CSV,
        _influence_lines,
        lambda it: 0,
        Order.COMPARISONS,
        Subject("comparison", "comparison of labels of the same nuggets", diagnosed),
        label="Influence of nuggets on a topic's agreement",
        filters=("topics",),
        of_labels=always,
        shows=_influence_seen,
        choices={"measure": influence_measures},
        purposes={"csv": Purpose.MACHINES},
        page=Page(
            "topic_influence",
            "comparisons/<int:comparison_id>/topics/<int:topic_id>/influence.csv",
            file_name="influence.{of}.{topics}.{measure}.{ending}",
        ),
    ),
)
