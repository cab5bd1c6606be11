"""Nugget banks in the field's JSONL form, and what people made of drafts as a table."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from assessor.campaigns.models import Condition, Topic
from assessor.campaigns.queries import byte_order, without_practice
from assessor.formats.tables import write_table
from nuggets.draft_outcomes import Fate
from nuggets.draft_reports import EDITS, FATES, TopicRow, draftings, topic_rows
from nuggets.formats import Draft, with_ancestors, write_bank
from nuggets.models import NuggetBank
from nuggets.queries import finished_banks, nuggets_in_order
from nuggets.records import as_record

_AT_A_TIME = 200


def condition_lines(
    condition: Condition, topics: Collection[Topic] | None = None, *, with_lineage: bool = False
) -> Iterator[str]:
    """Yield the finished banks of a condition, a line each, by topic id; of these topics alone."""
    banks = without_practice(finished_banks(condition)).prefetch_related("nuggets")
    banks = banks.order_by(byte_order("topic__qid"), "pk")
    if with_lineage:
        banks = banks.select_related("drafting")
    if topics is not None:
        banks = banks.filter(topic__in=[topic.pk for topic in topics])
    return bank_lines(banks.iterator(_AT_A_TIME), with_lineage=with_lineage)


def bank_lines(banks: Iterable[NuggetBank], *, with_lineage: bool = False) -> Iterator[str]:
    """Yield a line for each bank, nuggets in their order; notes and readings stay with their maker."""
    for bank in banks:
        listed = nuggets_in_order(bank)
        topic = bank.topic
        if with_lineage:
            made = sorted(bank.nuggets.all(), key=lambda nugget: nugget.pk)
            known = with_ancestors(bank.order, {nugget.name: nugget.parents for nugget in made})
            ancestors = [nugget for nugget in made if nugget.name in known - set(bank.order)]
            deleted = [nugget for nugget in made if nugget.draft and nugget.name not in known]
            nuggets, others, off = (
                [as_record(nugget, bank.order, with_lineage=True) for nugget in some]
                for some in (listed, ancestors, deleted)
            )
            drafts = (
                [Draft(*pair) for pair in zip(bank.drafting.nuggets, bank.drafting.labels, strict=True)]
                if bank.drafting
                else []
            )
            yield write_bank(topic.title, topic.qid, nuggets, others, bank.extras, drafts, off)
        else:
            nuggets = [as_record(nugget, bank.order, with_lineage=False) for nugget in listed]
            yield write_bank(topic.title, topic.qid, nuggets, None, bank.extras)


_ENDS = tuple(fate for fate in FATES if fate != Fate.UNDECIDED.value)
_OUTCOME = (
    *("topic", "person", "state", "drafts", "cut", *_ENDS, "added", "nuggets", "seconds", "seconds_per_draft"),
    *(f"edits: {verb}" for verb in EDITS),
)


def outcome_lines(condition: Condition) -> Iterator[str]:
    """Yield how people dealt with the drafts of a condition, by topic id; a topic that nobody has yet is there too."""
    return write_table(_OUTCOME, _outcomes(condition))


def _outcomes(condition: Condition) -> Iterator[Sequence[object]]:
    drafted = draftings(condition).iterator(_AT_A_TIME)
    while batch := list(islice(drafted, _AT_A_TIME)):
        yield from map(_outcome, topic_rows(batch))


def _outcome(row: TopicRow) -> Sequence[object]:
    cut = sum(one["nuggets"] - one["limit"] for one in row.drafting.cuts)
    if row.bank is None or row.bank.task is None or row.tally is None:
        told = (row.topic.qid, "", "not given", len(row.drafting.nuggets), cut)
        return told + ("",) * (len(_OUTCOME) - len(told))
    tally, task = row.tally, row.bank.task
    # The file has no column for undecided drafts: in an open bank they have always counted as kept.
    counts = tally.ends | {Fate.KEPT.value: tally.ends[Fate.KEPT.value] + tally.ends[Fate.UNDECIDED.value]}
    ends = (tally.drafts, cut, *(counts[fate] for fate in _ENDS), tally.added, tally.listed)
    edits = tally.edits.values()
    return (row.topic.qid, task.person, task.state, *ends, tally.seconds, tally.seconds_per_draft, *edits)
