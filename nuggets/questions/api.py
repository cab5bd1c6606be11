"""What the API lists of questions."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from assessor.campaigns.models import Condition, Run, Topic
from assessor.campaigns.queries import byte_order
from assessor.labels.api import LineSchema, Rows, read_line
from nuggets.api import NUGGET_LIST
from nuggets.queries import finished_banks
from nuggets.questions.exports import bank_lines
from nuggets.questions.formats import V3


class QuestionBankItem(LineSchema):
    """The questions of a topic: a NuggetBank v3. nugget_bank: by the question's text."""

    query_id: str
    nugget_bank: dict[str, Any]


def _rows(condition: Condition, topics: Collection[Topic], runs: Collection[Run] | None) -> Rows:
    banks = finished_banks(condition).filter(topic__in=topics).select_related("maker")
    banks = banks.prefetch_related("nuggets").order_by(byte_order("topic__qid"), "pk")
    for bank, line in zip(banks, bank_lines(banks, V3), strict=True):
        yield (bank.topic.qid, bank.pk), read_line(line)


QUESTION_LIST = replace(
    NUGGET_LIST,
    name="questions",
    about="The finished banks of questions by topic id, as NuggetBank v3; none of topics for practice.",
    schema=QuestionBankItem,
    rows=_rows,
)
