"""What can be exported of a campaign itself, of its grades, and of scores of whatever kind."""

from typing import Any

from django.db.models import QuerySet

from assessor.campaigns import exports as collection
from assessor.campaigns.models import Campaign, Condition, RankedSegment
from assessor.campaigns.queries import runs_with_texts
from assessor.exportables import (
    CSV,
    JSONL,
    LATEX,
    Exportable,
    Form,
    Order,
    Page,
    Purpose,
    Subject,
    always,
    of_chosen,
    of_conditions,
)
from assessor.exports import rows
from assessor.exports.cutoff import cutoff_lines
from assessor.scores.canaries import table_lines as canary_lines
from assessor.scores.canaries import with_canaries
from assessor.scores.leaderboards import FORMS as SCORE_FORMS
from assessor.scores.leaderboards import score_lines
from assessor.scores.score_source import scored_conditions, scored_kinds, scoring_of


def _every(campaign: Campaign) -> QuerySet[Condition]:
    """Return all conditions, with what a page tells of them."""
    told = (*Condition.TOLD_WITH, "protocol")
    return campaign.conditions.select_related(*told).order_by("kind", "name")


def _labelled(campaign: Campaign) -> QuerySet[Condition]:
    """Return those whose labels are given and do not follow from others'."""
    return _every(campaign).exclude(method=Condition.PANEL)


def _left_out(run: Any) -> str:
    if not run.texts:
        return ""
    some, are = ("answer", "is") if run.texts == 1 else ("answers", "are")
    return f"{run.texts} {some} that came only with labels {are} left out"


def _if_scored(condition: Condition) -> Condition | None:
    """Labels of a study's sample make no scores."""
    return condition if condition.kind in scored_kinds() and not condition.sample else None


EXPORTABLES = (
    Exportable(
        "qrels",
        "Relevance judgments (qrels)",
        {"txt": Form("qrels", "txt")},
        lambda it: collection.qrels_lines(it.record, it.topics),
        lambda it: rows.grades(it).count(),
        Order.GRADES,
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
        "grades",
        "Grades of all sources, side by side",
        CSV | LATEX,
        lambda it: collection.grades_side_by_side(it.campaign, it.topics, it.form),
        lambda it: rows.all_grades(it).count(),
        Order.REPORTS,
        filters=("topics",),
        of_labels=always,
        shows=rows.all_grades_seen,
    ),
    Exportable(
        "scores",
        "Scores",
        {name: Form(form.label, form.ending, heads=int("csv" in form.ending)) for name, form in SCORE_FORMS.items()},
        lambda it: score_lines(it.record, it.form, it.policy, allow_incomplete=it.allow_incomplete),
        rows.scored,
        Order.SCORES,
        of_conditions("scored condition", scored_conditions),
        purposes={
            "latex": Purpose.PAPER,
            "tot": Purpose.MACHINES,
            "ir_measures": Purpose.MACHINES,
        },
        has_policy=True,
        frozen=_if_scored,
        freezes=("csv", "topics"),
        releases=("csv", "topics"),
        page=Page("export_scores", "scores/<int:condition_id>.<str:form>", file_name="scores.{of}.{policy}.{ending}"),
    ),
    Exportable(
        "canaries",
        "Canaries: how a judge scores answers that try to mislead it",
        {"csv": CSV["csv"]},
        lambda it: canary_lines(it.record),
        lambda it: len(scoring_of(it.record.kind).canaries),
        Order.COMPARISONS,
        of_conditions("condition with canaries", with_canaries),
        label="Canaries (answers that try to mislead a judge)",
        of_labels=always,
        shows=rows.scores_seen,
        page=Page("canary_table", "scores/<int:condition_id>/canaries/table.<str:form>"),
    ),
    Exportable(
        "cutoff",
        "Cut-off report: what was planned and judged at a moment",
        CSV,
        cutoff_lines,
        rows.planned,
        Order.REPORTS,
        of_conditions("condition", _labelled),
        label="Cut-off report (planned and judged at a moment)",
        purposes={"csv": Purpose.TRACK},
        filters=("topics", "runs"),
        of_labels=always,
        has_moment=True,
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
        Order.COLLECTION,
        filters=("topics",),
        usual_form=collection.topics_form,
        purposes={
            "tsv": Purpose.PARTICIPANTS,
            "jsonl": Purpose.PARTICIPANTS,
            "request": Purpose.MACHINES,
        },
        releases=("jsonl",),
    ),
    Exportable(
        "segments",
        "Segments",
        JSONL,
        lambda it: collection.segments_lines(it.campaign),
        lambda it: it.campaign.segments.count(),
        Order.COLLECTION,
        label="Passages",
        purposes={"jsonl": Purpose.MACHINES},
    ),
    Exportable(
        "run_list",
        "List of runs",
        CSV,
        lambda it: collection.run_list_lines(it.campaign),
        lambda it: it.campaign.runs.count(),
        Order.COLLECTION,
        stem="runs",
        releases=("csv",),
    ),
    Exportable(
        "run",
        "Runs",
        JSONL,
        lambda it: collection.run_lines(it.record, it.topics),
        lambda it: of_chosen(it, it.record.answers.all()).count(),
        Order.COLLECTION,
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
        Order.COLLECTION,
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
        Order.COLLECTION,
        filters=("topics",),
    ),
)
