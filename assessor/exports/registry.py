"""All that can be exported, in the order in which the page lists it: the one list.

The page, the commands, manifests, freezing and releases are made from it.
"""

from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from assessor.collection import exports as collection
from assessor.collection.models import Campaign, Condition, RankedSegment
from assessor.collection.queries import runs_with_texts
from assessor.exports import rows
from assessor.exports.chosen import Chosen
from assessor.exports.cutoff import cutoff_lines
from assessor.exports.kinds import Exportable, Form, Subject
from assessor.plan.effort_files import FILES as EFFORT_FILES
from assessor.relevance.exports import judgment_lines
from assessor.scores.leaderboards import FORMS as SCORE_FORMS
from assessor.scores.leaderboards import score_lines
from assessor.scores.scoring import scored_conditions
from assessor.studies.models import Study
from assignment.exports import assignment_lines
from assignment.queries import assigning
from metaeval.models import Calculation, Comparison
from metaeval.results import JSON
from metaeval.seen import seen_in_comparison, seen_in_study
from metaeval.studies import FILES as STUDY_FILES
from metaeval.written import result_json
from nuggets.exports import condition_lines
from nuggets.queries import finished_counts
from support.exports import support_lines
from support.listing import judgment_lines as support_judgment_lines
from support.queries import supporting


def _always(record: Any) -> bool:
    return True


def _condition(what: str, records: Callable[[Campaign], QuerySet[Condition]]) -> Subject:
    return Subject("condition", what, records)


def _every(campaign: Campaign) -> QuerySet[Condition]:
    """Return all conditions, with what a page tells of them."""
    told = ("judge", "protocol", "nuggets__judge", "qrels_source__condition__judge", "shown__judge")
    return campaign.conditions.select_related(*told).order_by("kind", "name")


def _of_kind(kind: Condition.Kind) -> Callable[[Campaign], QuerySet[Condition]]:
    return lambda campaign: _every(campaign).filter(kind=kind)


def _finished(condition: Any) -> str:
    some = f"{condition.finished} finished bank{'' if condition.finished == 1 else 's'}"
    return some if condition.banks == condition.finished else f"{some} of {condition.banks}; the others are left out"


def _left_out(run: Any) -> str:
    if not run.texts:
        return ""
    some, are = ("answer", "is") if run.texts == 1 else ("answers", "are")
    return f"{run.texts} {some} of which no more is loaded than came with labels {are} left out"


def _if_kind(*kinds: Condition.Kind) -> Callable[[Condition], Condition | None]:
    return lambda condition: condition if condition.kind in kinds else None


def _if_scored(condition: Condition) -> Condition | None:
    """Labels of a study's sample make no scores."""
    return None if condition.sample else _if_kind(Condition.Kind.ASSIGNMENT, Condition.Kind.SUPPORT)(condition)


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


_JSONL = {"jsonl": Form("JSONL", "jsonl")}
_CSV = {"csv": Form("CSV", "csv", heads=1)}
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

EXPORTABLES: tuple[Exportable, ...] = (
    Exportable(
        "nuggets",
        "Nuggets",
        {"jsonl": Form("JSONL", "jsonl"), "lineage": Form("with lineage, JSONL", "lineage.jsonl")},
        lambda it: condition_lines(it.record, it.topics, with_lineage=it.form == "lineage"),
        lambda it: rows.banks(it).count(),
        _condition("nugget condition", finished_counts),
        filters=("topics",),
        of_labels=_always,
        shows=rows.nuggets_seen,
        remark=_finished,
        frozen=_if_kind(Condition.Kind.NUGGETS),
        freezes=("jsonl", "lineage"),
        releases=("lineage",),
    ),
    Exportable(
        "assignments",
        "Assignments",
        _JSONL,
        lambda it: assignment_lines(it.record, it.topics, it.runs),
        lambda it: rows.answer_sheets(it).count(),
        _condition("assignment condition", assigning),
        filters=("topics", "runs"),
        of_labels=_always,
        shows=rows.assignments_seen,
        remark=lambda condition: f"of the nuggets of {condition.nuggets}",
        frozen=_if_kind(Condition.Kind.ASSIGNMENT),
        freezes=("jsonl",),
        releases=("jsonl",),
    ),
    Exportable(
        "support",
        "Support judgments",
        _JSONL,
        lambda it: support_lines(it.record, it.topics, it.runs),
        lambda it: rows.support_sheets(it).count(),
        _condition("support condition", supporting),
        filters=("topics", "runs"),
        of_labels=_always,
        shows=rows.support_seen,
        frozen=_if_kind(Condition.Kind.SUPPORT),
        freezes=("jsonl",),
        releases=("jsonl",),
    ),
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
        _condition("condition of assignment or support", scored_conditions),
        has_policy=True,
        frozen=_if_scored,
        freezes=("csv", "topics"),
        releases=("csv", "topics"),
    ),
    Exportable(
        "judgments",
        "Who graded what, and which grade was shown",
        _CSV,
        lambda it: judgment_lines(it.record, it.topics),
        lambda it: rows.relevance_events(it).count(),
        _condition("relevance condition", _of_kind(Condition.Kind.RELEVANCE)),
        filters=("topics",),
        of_labels=_always,
        shows=rows.shown_grades_seen,
        frozen=_if_kind(Condition.Kind.RELEVANCE),
        freezes=("csv",),
        releases=("csv",),
    ),
    Exportable(
        "support_judgments",
        "Who judged support how, and which label was shown",
        _CSV,
        lambda it: support_judgment_lines(it.record, it.topics, it.runs),
        lambda it: rows.support_events(it).count(),
        _condition("support condition", lambda campaign: supporting(campaign).filter(judge=None)),
        stem="support",
        filters=("topics", "runs"),
        of_labels=_always,
        shows=rows.shown_support_seen,
        frozen=lambda condition: condition if condition.kind == "support" and condition.judge_id is None else None,
        freezes=("csv",),
        releases=("csv",),
    ),
    Exportable(
        "cutoff",
        "Cut-off report: what was planned and judged at a moment",
        _CSV,
        cutoff_lines,
        rows.planned,
        _condition("condition", _every),
        filters=("topics", "runs"),
        of_labels=_always,
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
        lambda it: rows.of(it, it.campaign.topics.all(), "pk").count(),
        filters=("topics",),
        usual_form=collection.topics_form,
        releases=("jsonl",),
    ),
    Exportable(
        "segments",
        "Segments",
        _JSONL,
        lambda it: collection.segments_lines(it.campaign),
        lambda it: it.campaign.segments.count(),
    ),
    Exportable(
        "run_list",
        "List of runs",
        _CSV,
        lambda it: collection.run_list_lines(it.campaign),
        lambda it: it.campaign.runs.count(),
        stem="runs",
        releases=("csv",),
    ),
    Exportable(
        "run",
        "Runs",
        _JSONL,
        lambda it: collection.run_lines(it.record, it.topics),
        lambda it: rows.of(it, it.record.answers.all()).count(),
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
        lambda it: rows.of(it, RankedSegment.objects.filter(run=it.record)).count(),
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
        _CSV,
        lambda it: collection.event_lines(it.campaign.events.all()),
        lambda it: it.campaign.events.count(),
    ),
)
BY_NAME = {one.name: one for one in EXPORTABLES}
