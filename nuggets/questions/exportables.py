"""What can be exported of questions."""

from typing import Any

from django.db.models import QuerySet

from assessor.exportables import (
    Chosen,
    Exportable,
    Form,
    Order,
    Purpose,
    always,
    of_chosen,
    of_conditions,
    only_of,
    topics_of,
)
from assessor.work.exposure import Seen
from nuggets.queries import finished_banks
from nuggets.questions.condition_kind import QUESTIONS
from nuggets.questions.exports import condition_lines
from nuggets.questions.formats import ARGUE, RAGTIME, RAGTIME26, V3


def _banks(chosen: Chosen) -> QuerySet[Any]:
    return of_chosen(chosen, finished_banks(chosen.record))


def _seen(chosen: Chosen) -> Seen:
    yield chosen.record, topics_of(_banks(chosen), "topic")


EXPORTABLES = (
    Exportable(
        "questions",
        "Question nuggets",
        {
            V3: Form("NuggetBank v3", "v3.jsonl"),
            RAGTIME26: Form("RAGTIME 2026", "ragtime26.jsonl"),
            RAGTIME: Form("RAGTIME, for collaborators", "ragtime.jsonl"),
            ARGUE: Form("ARGUE v1", "argue.jsonl"),
        },
        lambda it: condition_lines(it.record, it.topics, it.form),
        lambda it: _banks(it).count(),
        Order.LABELS,
        of_conditions("question condition", QUESTIONS.conditions),
        filters=("topics",),
        of_labels=always,
        shows=_seen,
        frozen=only_of(QUESTIONS.name),
        purposes={V3: Purpose.PARTICIPANTS},
        in_admin="finished questions",
        freezes=(V3,),
        releases=(V3,),
    ),
)
