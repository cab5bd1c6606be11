"""What can be exported of assignments."""

from django.db.models import QuerySet

from assessor.exportables import (
    CSV,
    JSONL,
    LATEX,
    Chosen,
    Exportable,
    Order,
    always,
    judged_answers,
    of_conditions,
    only_of,
    topics_of,
)
from assessor.work.exposure import Seen
from assignment import paper_tables
from assignment.exports import assignment_lines
from assignment.models import AnswerSheet
from assignment.queries import assigning


def _sheets(chosen: Chosen) -> QuerySet[AnswerSheet]:
    return judged_answers(chosen, AnswerSheet)


def _seen(chosen: Chosen) -> Seen:
    yield chosen.record, topics_of(_sheets(chosen), "answer__topic")


def _all_seen(chosen: Chosen) -> Seen:
    """Yield the first condition with a model's labels, or any, and the same of nuggets: each kind is recorded once."""
    conditions = paper_tables.compared(chosen.campaign)
    topics = topics_of(paper_tables.judged(chosen.campaign, chosen.topics, chosen.runs), "answer__topic")
    labels = sorted(conditions, key=lambda one: not one.is_a_models)[:1]
    nuggets = sorted(conditions, key=lambda one: (one.nuggets or one).is_peoples)[:1]
    for condition in {one.pk: one for one in (*labels, *nuggets)}.values():
        yield condition, topics


EXPORTABLES = (
    Exportable(
        "assignments",
        "Assignments",
        JSONL,
        lambda it: assignment_lines(it.record, it.topics, it.runs),
        lambda it: _sheets(it).count(),
        Order.LABELS,
        of_conditions("assignment condition", assigning),
        filters=("topics", "runs"),
        of_labels=always,
        shows=_seen,
        remark=lambda condition: f"of the nuggets of {condition.nuggets}",
        frozen=only_of("assignment"),
        in_admin="assignments",
        freezes=("jsonl",),
        releases=("jsonl",),
    ),
    Exportable(
        "labels_by_answer",
        "Labels of each answer under all conditions, side by side",
        CSV | LATEX,
        lambda it: paper_tables.by_answer(it.campaign, it.topics, it.runs, it.form),
        lambda it: paper_tables.judged(it.campaign, it.topics, it.runs).count(),
        Order.REPORTS,
        filters=("topics", "runs"),
        of_labels=always,
        shows=_all_seen,
    ),
)
