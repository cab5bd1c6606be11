"""What can be exported of judgments of reports."""

from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition
from assessor.exportables import (
    JSONL,
    Chosen,
    Exportable,
    Form,
    Order,
    always,
    judged_answers,
    of_conditions,
    only_of,
    topics_of,
)
from assessor.work.exposure import Seen
from assignment.argue.exports import judgment_lines, score_lines
from assignment.argue.label_kind import ARGUE
from assignment.argue.models import ArgueSheet


def _judged(campaign: Campaign) -> QuerySet[Condition]:
    return ARGUE.conditions(campaign).select_related("protocol")


def _sheets(chosen: Chosen) -> QuerySet[ArgueSheet]:
    return judged_answers(chosen, ArgueSheet)


def _seen(chosen: Chosen) -> Seen:
    yield chosen.record, topics_of(_sheets(chosen), "answer__topic")


def _of_nuggets(condition: Condition) -> str:
    return f"of the questions of {condition.nuggets}"


_OF_CONDITIONS = of_conditions("condition of judged reports", _judged)

EXPORTABLES = (
    Exportable(
        "argue_judgments",
        "Judgments of reports",
        JSONL,
        lambda it: judgment_lines(it.record, it.topics, it.runs),
        lambda it: _sheets(it).count(),
        Order.LABELS,
        _OF_CONDITIONS,
        stem="judgments",
        label="Judgments of reports (ARGUE)",
        filters=("topics", "runs"),
        of_labels=always,
        shows=_seen,
        remark=_of_nuggets,
        frozen=only_of(ARGUE.name),
        in_admin="judgments of reports",
        freezes=("jsonl",),
        releases=("jsonl",),
    ),
    Exportable(
        "argue_scores",
        "Scores of reports, as AUTO-ARGUE writes them",
        {"tsv": Form("TSV", "tsv", heads=1)},
        lambda it: score_lines(it.record, it.policy, it.topics, it.runs, allow_incomplete=it.allow_incomplete),
        lambda it: _sheets(it).count(),
        Order.SCORES,
        _OF_CONDITIONS,
        filters=("topics", "runs"),
        of_labels=always,
        has_policy=True,
        remark=_of_nuggets,
        frozen=only_of(ARGUE.name),
        freezes=("tsv",),
        releases=("tsv",),
    ),
)
