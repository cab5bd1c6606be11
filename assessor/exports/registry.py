"""All that can be exported, in the order in which the page lists it: the one list.

The page, the commands, manifests, freezing and releases are made from it.
"""

from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from assessor.collection import exports as collection
from assessor.collection.condition_kinds import kinds_in_order_of_work
from assessor.collection.models import Campaign, Condition, RankedSegment
from assessor.collection.queries import runs_with_texts
from assessor.exportables import CSV, JSONL, Chosen, Exportable, Form, Subject, always, of_chosen, of_conditions
from assessor.exports import rows
from assessor.exports.cutoff import cutoff_lines
from assessor.plan.effort_files import FILES as EFFORT_FILES
from assessor.scores.leaderboards import FORMS as SCORE_FORMS
from assessor.scores.leaderboards import score_lines
from assessor.scores.scoring import scored_conditions, scored_kinds
from assessor.studies.models import Study
from metaeval.exposure import seen_in_comparison, seen_in_study
from metaeval.models import Calculation, Comparison
from metaeval.report import JSON, result_json
from metaeval.studies import FILES as STUDY_FILES


def _every(campaign: Campaign) -> QuerySet[Condition]:
    """Return all conditions, with what a page tells of them."""
    told = ("judge", "protocol", "nuggets__judge", "qrels_source__condition__judge", "shown__judge")
    return campaign.conditions.select_related(*told).order_by("kind", "name")


def _left_out(run: Any) -> str:
    if not run.texts:
        return ""
    some, are = ("answer", "is") if run.texts == 1 else ("answers", "are")
    return f"{run.texts} {some} of which no more is loaded than came with labels {are} left out"


def _if_scored(condition: Condition) -> Condition | None:
    """Labels of a study's sample make no scores."""
    return condition if condition.kind in scored_kinds() and not condition.sample else None


def _computed(campaign: Campaign) -> QuerySet[Comparison]:
    """Return the comparisons of which there is a result, with the newest one's files."""
    done = Calculation.objects.filter(comparison=OuterRef("pk"), state=Calculation.State.DONE).order_by("-pk")
    comparisons = Comparison.objects.filter(Exists(done), campaign=campaign)
    return comparisons.annotate(files=Subquery(done.values("files")[:1])).order_by("name")


def _studies(campaign: Campaign) -> QuerySet[Study]:
    sides = ("first", "first__judge", "first__nuggets__judge", "second", "second__judge", "second__nuggets__judge")
    return campaign.studies.select_related("campaign", *sides)


def _comparison_lines(chosen: Chosen) -> Iterator[str]:
    done = chosen.record.calculations.filter(state=Calculation.State.DONE)
    newest = done.select_related("comparison__topics_of").order_by("-pk")[0]
    if chosen.form == JSON:
        return iter([result_json(newest)])
    return iter(newest.files[chosen.form].splitlines(keepends=True))


_COMPARISON_FILES: tuple[str, ...] = (
    JSON,
    "statistics.csv",
    "runs.csv",
    "taus.tex",
    "scores.tex",
    "labels.csv",
    "labels.tex",
)
_COMPARISON_FILES += ("judges.csv", "described.csv", "described.tex", "topics.csv", "left_out.csv", "summary.txt")

_OF_KINDS = [one for kind in kinds_in_order_of_work() for one in kind.exportables()]

EXPORTABLES: tuple[Exportable, ...] = (
    *(one for one in _OF_KINDS if not one.of_events),
    Exportable(
        "qrels",
        "Relevance judgments (qrels)",
        {"txt": Form("qrels", "txt")},
        lambda it: collection.qrels_lines(it.record, it.topics),
        lambda it: rows.grades(it).count(),
        Subject("source", "source of grades", lambda campaign: campaign.qrels_sources.order_by("name")),
        filters=("topics",),
        of_labels=lambda source: source.condition_id is not None,
        shows=rows.grades_seen,
        remark=lambda source: f"by {source.get_by_display()}",
        frozen=lambda condition: getattr(condition, "grades_made", None),
        freezes=("txt",),
        releases=("txt",),
    ),
    Exportable(
        "scores",
        "Scores",
        {name: Form(form.label, form.ending, heads=int("csv" in form.ending)) for name, form in SCORE_FORMS.items()},
        lambda it: score_lines(it.record, it.form, it.policy, allow_incomplete=it.allow_incomplete),
        rows.scored,
        of_conditions(f"condition of {' or '.join(scored_kinds())}", scored_conditions),
        has_policy=True,
        frozen=_if_scored,
        freezes=("csv", "topics"),
        releases=("csv", "topics"),
    ),
    *(one for one in _OF_KINDS if one.of_events),
    Exportable(
        "cutoff",
        "Cut-off report: what was planned and judged at a moment",
        CSV,
        cutoff_lines,
        rows.planned,
        of_conditions("condition", _every),
        filters=("topics", "runs"),
        of_labels=always,
        has_moment=True,
    ),
    Exportable(
        "comparison",
        "Comparisons",
        {name: Form(name, name, heads=int(name.endswith(".csv"))) for name in _COMPARISON_FILES},
        _comparison_lines,
        lambda it: 1,
        Subject("comparison", "comparison with a result", _computed),
        made=lambda comparison: (JSON, *comparison.files),
        shows=lambda it: seen_in_comparison(it.record),
    ),
    Exportable(
        "study",
        "Studies",
        {name: Form(name, name, heads=int(name.endswith(".csv"))) for name in STUDY_FILES},
        lambda it: STUDY_FILES[it.form](it.record),
        lambda it: it.record.drawn.count(),
        Subject("study", "study", _studies),
        shows=lambda it: seen_in_study(it.record),
    ),
    Exportable(
        "topics",
        "Topics",
        {
            "tsv": Form("TSV", "tsv"),
            "jsonl": Form("JSONL", "jsonl"),
            "request": Form("as requests, JSONL", "requests.jsonl"),
        },
        lambda it: collection.topics_lines(it.campaign, it.form, it.topics),
        lambda it: of_chosen(it, it.campaign.topics.all(), "pk").count(),
        filters=("topics",),
        usual_form=collection.topics_form,
        releases=("jsonl",),
    ),
    Exportable(
        "segments",
        "Segments",
        JSONL,
        lambda it: collection.segments_lines(it.campaign),
        lambda it: it.campaign.segments.count(),
    ),
    Exportable(
        "run_list",
        "List of runs",
        CSV,
        lambda it: collection.run_list_lines(it.campaign),
        lambda it: it.campaign.runs.count(),
        stem="runs",
        releases=("csv",),
    ),
    Exportable(
        "run",
        "Runs",
        JSONL,
        lambda it: collection.run_lines(it.record, it.topics),
        lambda it: of_chosen(it, it.record.answers.all()).count(),
        Subject("run", "run", runs_with_texts, field="tag"),
        stem="",
        filters=("topics",),
        remark=_left_out,
        releases=("jsonl",),
    ),
    Exportable(
        "retrieval_run",
        "Retrieval runs",
        {"txt": Form("six columns", "txt")},
        lambda it: collection.retrieval_run_lines(it.record, it.topics),
        lambda it: of_chosen(it, RankedSegment.objects.filter(run=it.record)).count(),
        Subject("run", "retrieval run", lambda campaign: campaign.retrieval_runs.order_by("tag"), field="tag"),
        stem="",
        filters=("topics",),
    ),
    Exportable(
        "pool",
        "Pool",
        {"txt": Form("topic and docid", "txt")},
        lambda it: collection.pool_lines(it.campaign, it.topics),
        lambda it: it.campaign.protocol.pool_depth * it.campaign.topics.count(),
        filters=("topics",),
    ),
    Exportable(
        "effort",
        "Effort: active time by topic, task, condition and person",
        {name: Form(name, name, heads=1) for name in EFFORT_FILES},
        lambda it: EFFORT_FILES[it.form](it.campaign),
        lambda it: it.campaign.tasks.count(),
    ),
    Exportable(
        "history",
        "History",
        CSV,
        lambda it: collection.event_lines(it.campaign.events.all()),
        lambda it: it.campaign.events.count(),
    ),
)
BY_NAME = {one.name: one for one in EXPORTABLES}
