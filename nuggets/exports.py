"""Nugget banks in the field's JSONL form, and what people made of drafts as a table."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from assessor.collection.formats.tables import write_table
from assessor.collection.models import Condition, Topic
from assessor.collection.queries import byte_order, without_practice
from nuggets.fates import Fate
from nuggets.formats import Draft, Lineage, NuggetRecord, with_ancestors, write_bank
from nuggets.models import Nugget, NuggetBank
from nuggets.outcomes import EDITS, FATES, TopicRow, draftings, topic_rows
from nuggets.queries import finished_banks, nuggets_in_order

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
            by_pk = {nugget.pk: nugget for nugget in bank.nuggets.all()}
            known = with_ancestors(bank.order, {pk: nugget.parents for pk, nugget in by_pk.items()})
            ancestors = [by_pk[pk] for pk in sorted(known - set(bank.order))]
            deleted = [nugget for pk, nugget in sorted(by_pk.items()) if nugget.draft and pk not in known]
            lists = ([_record(n, by_pk) for n in some] for some in (listed, ancestors, deleted))
            nuggets, others, off = lists
            drafts = (
                [Draft(*pair) for pair in zip(bank.drafting.nuggets, bank.drafting.labels, strict=True)]
                if bank.drafting
                else []
            )
            yield write_bank(topic.title, topic.qid, nuggets, others, bank.extras, drafts, off)
        else:
            nuggets = [NuggetRecord(nugget.text, nugget.importance, nugget.extras, None) for nugget in listed]
            yield write_bank(topic.title, topic.qid, nuggets, None, bank.extras)


def _record(nugget: Nugget, by_pk: dict[int, Nugget]) -> NuggetRecord:
    parents = [by_pk[pk].uid for pk in nugget.parents]
    lineage = Lineage(nugget.uid, nugget.origin, parents, nugget.evidence, nugget.draft)
    return NuggetRecord(nugget.text, nugget.importance, nugget.extras, lineage)


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
