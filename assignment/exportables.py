"""What can be exported of assignments."""

from django.db.models import QuerySet

from assessor.exportables import (
    JSONL,
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
from assignment.exports import assignment_lines
from assignment.models import AnswerSheet
from assignment.queries import assigning


def _sheets(chosen: Chosen) -> QuerySet[AnswerSheet]:
    return judged_answers(chosen, AnswerSheet)


def _seen(chosen: Chosen) -> Seen:
    yield chosen.record, topics_of(_sheets(chosen), "answer__topic")


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
)
