"""Nugget banks in the field's JSONL form."""

from collections.abc import Iterable, Iterator

from assessor.collection.formats.values import to_json
from assessor.collection.models import Condition
from assessor.collection.queries import byte_order
from nuggets.models import NuggetBank
from nuggets.queries import finished_banks, nuggets_in_order

_AT_A_TIME = 200


def condition_lines(condition: Condition) -> Iterator[str]:
    """Yield the finished banks of a condition, a line each, by topic id."""
    return bank_lines(
        finished_banks(condition)
        .prefetch_related("nuggets")
        .order_by(byte_order("topic__qid"), "pk")
        .iterator(_AT_A_TIME)
    )


def bank_lines(banks: Iterable[NuggetBank]) -> Iterator[str]:
    """Yield {"query", "qid", "nuggets": [{"text", "importance"}]} for each bank, nuggets in their order.

    A nugget without importance has no such key, never a default.
    """
    for bank in banks:
        nuggets = [
            {"text": nugget.text} | ({"importance": nugget.importance} if nugget.importance else {})
            for nugget in nuggets_in_order(bank)
        ]
        yield to_json({"query": bank.topic.title, "qid": bank.topic.qid, "nuggets": nuggets}) + "\n"
