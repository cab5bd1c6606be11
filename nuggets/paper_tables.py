"""Nuggets as tables for a paper: conditions side by side, and a model's drafts before and after people edited them."""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.campaigns.queries import byte_order, without_practice
from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from nuggets.condition_kind import NUGGETS
from nuggets.draft_reports import draft_rows, listed_rows
from nuggets.models import Nugget, NuggetBank
from nuggets.queries import nuggets_in_order

_AT_A_TIME = 50


def finished(campaign: Campaign, topics: Collection[Topic] | None = None) -> QuerySet[NuggetBank]:
    """Return the finished banks of facts of topics under all conditions; questions stand beside no facts."""
    of_facts = {"condition__campaign": campaign, "condition__kind": NUGGETS.name}
    banks = NuggetBank.objects.filter(**of_facts, state=NuggetBank.State.FINISHED)
    return without_practice(_on(banks, topics))


def side_by_side(campaign: Campaign, topics: Collection[Topic] | None, form: str) -> Iterator[str]:
    """Yield the finished nuggets of topics under all conditions, as "csv" or "tex": a table for each topic."""
    banks = finished(campaign, topics).select_related("topic", "condition__judge", "maker")
    in_order = banks.order_by(byte_order("topic__qid"), "condition__name", "pk").prefetch_related("nuggets")
    found = in_order.iterator(_AT_A_TIME)
    if form == "csv":
        return write_table(("topic", "condition", "by", "place", "nugget", "importance"), _nugget_rows(found))
    return (line for _, of_topic in groupby(found, attrgetter("topic_id")) for line in _beside(list(of_topic)))


def _on(rows: QuerySet[NuggetBank], topics: Collection[Topic] | None) -> QuerySet[NuggetBank]:
    return rows if topics is None else rows.filter(topic__in=[topic.pk for topic in topics])


def _nugget_rows(banks: Iterator[NuggetBank]) -> Iterator[Sequence[object]]:
    for bank in banks:
        for place, nugget in enumerate(nuggets_in_order(bank), 1):
            yield bank.topic.qid, bank.condition.name, bank.maker.name, place, nugget.text, nugget.importance


def _beside(banks: list[NuggetBank]) -> Iterator[str]:
    topic = banks[0].topic
    columns = [[_as_latex(nugget.text, nugget.importance) for nugget in nuggets_in_order(bank)] for bank in banks]
    return latex.table(
        f"Nuggets of topic {as_latex(topic.qid)}, {as_latex(topic.title)}, by condition; vital ones in bold",
        latex.text_columns(len(banks)),
        [as_latex(bank.condition.name) for bank in banks],
        map(latex.row, zip_longest(*columns, fillvalue="")),
    )


def _as_latex(text: str, importance: str) -> str:
    return f"\\textbf{{{as_latex(text)}}}" if importance == Nugget.Importance.VITAL else as_latex(text)


def edits(condition: Condition, topics: Collection[Topic] | None, form: str) -> Iterator[str]:
    """Yield each draft of a condition with what people made of it, and what they added: "csv", "jsonl" or "tex"."""
    drafted = NuggetBank.objects.filter(condition=condition).exclude(drafting=None).exclude(task=None)
    banks = without_practice(_on(drafted, topics)).select_related("topic", "drafting")
    found = banks.order_by(byte_order("topic__qid"), "pk").prefetch_related("nuggets").iterator(_AT_A_TIME)
    if form == "jsonl":
        return (to_json(row._asdict()) + "\n" for bank in found for row in edit_rows(bank))
    if form == "csv":
        rows = ((*row[:5], "; ".join(row[5]), "; ".join(row[6])) for bank in found for row in edit_rows(bank))
        return write_table(EditRow._fields, rows)
    return (line for bank in found for line in _edits_latex(bank, condition))


class EditRow(NamedTuple):
    """A draft with how it ended and the nuggets on the list that were made of it; or a nugget that was added.

    place: in the list of drafts, from 1. importance: as drafted; became_importance: of each nugget on the list.
    """

    topic: str
    place: int | None
    draft: str
    importance: str
    end: str
    became: list[str]
    became_importance: list[str]


def edit_rows(bank: NuggetBank) -> Iterator[EditRow]:
    """Yield the drafts in their order, then the nuggets that are made from none."""
    listed = listed_rows(bank)
    for row in draft_rows(bank):
        became = [one.nugget for one in listed if row.place in one.drafts]
        texts, importances = [one.text for one in became], [one.importance for one in became]
        yield EditRow(bank.topic.qid, row.place, row.text, row.importance, row.end, texts, importances)
    for one in listed:
        if not one.drafts:
            yield EditRow(bank.topic.qid, None, "", "", "added", [one.nugget.text], [one.nugget.importance])


def _edits_latex(bank: NuggetBank, condition: Condition) -> Iterator[str]:
    rows = (
        latex.row(
            (
                _as_latex(draft, importance),
                as_latex(end),
                "; ".join(_as_latex(*one) for one in zip(texts, importances, strict=True)) or "--",
            )
        )
        for _, _, draft, importance, end, texts, importances in edit_rows(bank)
    )
    return latex.table(
        f"Drafts on topic {as_latex(bank.topic.qid)}, {as_latex(bank.topic.title)}, and what people made of them under "
        f"{as_latex(condition.name)}; vital nuggets in bold",
        "p{0.42\\linewidth}lp{0.42\\linewidth}",
        ("Draft", "Ended as", "Nuggets"),
        rows,
    )
