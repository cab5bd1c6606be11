"""What can be exported of nuggets."""

from typing import Any

from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition
from assessor.exportables import (
    CSV,
    JSONL,
    LATEX,
    Chosen,
    Exportable,
    Form,
    Order,
    Page,
    Purpose,
    always,
    of_chosen,
    of_conditions,
    only_of,
    topics_of,
)
from assessor.work.exposure import Seen
from nuggets import paper_tables
from nuggets.condition_kind import edited_methods
from nuggets.exports import condition_lines, outcome_lines
from nuggets.queries import finished_banks, finished_counts


def banks_of(chosen: Chosen) -> QuerySet[Any]:
    return of_chosen(chosen, finished_banks(chosen.record))


def banks_seen(chosen: Chosen) -> Seen:
    yield chosen.record, topics_of(banks_of(chosen), "topic")


def _all_seen(chosen: Chosen) -> Seen:
    """Yield the first condition with a model's nuggets, or any: what is seen of one kind is recorded once."""
    conditions = sorted(finished_counts(chosen.campaign), key=lambda one: one.is_peoples)
    if conditions:
        yield conditions[0], topics_of(paper_tables.finished(chosen.campaign, chosen.topics), "topic")


def _drafts_seen(chosen: Chosen) -> Seen:
    yield chosen.record, topics_of(of_chosen(chosen, chosen.record.draftings.all()), "topic")


_TABLES = CSV | LATEX


def _finished(condition: Any) -> str:
    some = f"{condition.finished} finished nugget list{'' if condition.finished == 1 else 's'}"
    return some if condition.banks == condition.finished else f"{some} of {condition.banks}; others are left out"


def _edited(campaign: Campaign) -> QuerySet[Condition]:
    edited: QuerySet[Condition] = campaign.conditions.filter(method__in=edited_methods())
    edited = edited.select_related("judge", "protocol")
    return edited.order_by("name")


EXPORTABLES = (
    Exportable(
        "nuggets",
        "Nuggets",
        {"jsonl": Form("JSONL", "jsonl"), "lineage": Form("JSONL with lineage", "lineage.jsonl")},
        lambda it: condition_lines(it.record, it.topics, with_lineage=it.form == "lineage"),
        lambda it: banks_of(it).count(),
        Order.LABELS,
        of_conditions("nugget condition", finished_counts),
        filters=("topics",),
        of_labels=always,
        shows=banks_seen,
        remark=_finished,
        frozen=only_of("nuggets"),
        purposes={"jsonl": Purpose.PARTICIPANTS},
        in_admin="finished nuggets",
        freezes=("jsonl", "lineage"),
        releases=("lineage",),
    ),
    Exportable(
        "drafts",
        "What people made of a model's drafts, by topic",
        CSV,
        lambda it: outcome_lines(it.record),
        lambda it: it.record.draftings.count(),
        Order.WORK,
        of_conditions("condition in which people edit drafts", _edited),
        label="Drafts and what people made of them, by topic",
        of_labels=always,
        page=Page("export_drafts", "drafts/<int:condition_id>.csv"),
    ),
    Exportable(
        "nuggets_by_topic",
        "Nuggets of all conditions, side by side",
        _TABLES,
        lambda it: paper_tables.side_by_side(it.campaign, it.topics, it.form),
        lambda it: paper_tables.finished(it.campaign, it.topics).count(),
        Order.REPORTS,
        filters=("topics",),
        of_labels=always,
        shows=_all_seen,
    ),
    Exportable(
        "edits",
        "Drafts before and nuggets after editing",
        _TABLES | JSONL,
        lambda it: paper_tables.edits(it.record, it.topics, it.form),
        lambda it: it.record.draftings.count(),
        Order.REPORTS,
        of_conditions("condition in which people edit drafts", _edited),
        filters=("topics",),
        of_labels=always,
        shows=_drafts_seen,
    ),
)
