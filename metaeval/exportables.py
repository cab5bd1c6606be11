"""What can be exported of comparisons and studies."""

from collections.abc import Callable, Iterator

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from assessor.campaigns.models import Campaign
from assessor.exportables import CSV, LATEX, Chosen, Exportable, Form, Order, Page, Subject
from assessor.studies import queries
from assessor.studies.models import Study
from metaeval.exposure import seen_in_comparison, seen_in_hybrid, seen_in_study
from metaeval.hybrid_tables import file_lines
from metaeval.hybrids import hybrids_of
from metaeval.joint import table_lines
from metaeval.models import Calculation, Comparison
from metaeval.report import JSON, report_text
from metaeval.report_tables import FILES
from metaeval.studies import (
    distribution_lines,
    item_lines,
    result_lines,
    study_json,
    study_result,
    study_results,
)


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
        "study",
        "Studies",
        {name: Form(name, name, heads=int(name.endswith(".csv"))) for name in _OF_A_STUDY},
        lambda it: _OF_A_STUDY[it.form](it.record),
        lambda it: it.record.drawn.count(),
        Order.COMPARISONS,
        Subject("study", "study", _studies),
        label="Disagreement studies and adjudications",
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
)
