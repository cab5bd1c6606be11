"""What can be exported of nuggets."""

from typing import Any

from django.db.models import QuerySet

from assessor.exportables import Chosen, Exportable, Form, always, of_chosen, of_conditions, only_of, topics_of
from assessor.work.exposing import Seen
from nuggets.exports import condition_lines
from nuggets.queries import finished_banks, finished_counts


def _banks(chosen: Chosen) -> QuerySet[Any]:
    return of_chosen(chosen, finished_banks(chosen.record))


def _seen(chosen: Chosen) -> Seen:
    yield chosen.record, topics_of(_banks(chosen), "topic")


def _finished(condition: Any) -> str:
    some = f"{condition.finished} finished bank{'' if condition.finished == 1 else 's'}"
    return some if condition.banks == condition.finished else f"{some} of {condition.banks}; the others are left out"


EXPORTABLES = (
    Exportable(
        "nuggets",
        "Nuggets",
        {"jsonl": Form("JSONL", "jsonl"), "lineage": Form("with lineage, JSONL", "lineage.jsonl")},
        lambda it: condition_lines(it.record, it.topics, with_lineage=it.form == "lineage"),
        lambda it: _banks(it).count(),
        of_conditions("nugget condition", finished_counts),
        filters=("topics",),
        of_labels=always,
        shows=_seen,
        remark=_finished,
        frozen=only_of("nuggets"),
        freezes=("jsonl", "lineage"),
        releases=("lineage",),
    ),
)
