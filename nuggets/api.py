"""What the API lists of nuggets."""

from collections.abc import Collection

from django.db.models import QuerySet

from assessor.campaigns.models import Condition, Run, Topic
from assessor.campaigns.queries import byte_order
from assessor.exportables import topics_of
from assessor.labels.api import ApiList, LineSchema, Rows, read_line
from nuggets.exports import bank_lines
from nuggets.queries import finished_banks


class NuggetItem(LineSchema):
    """importance: absent in a draft."""

    text: str
    importance: str | None = None


class BankItem(LineSchema):
    """The nuggets of a topic: a line of the field's nugget files."""

    query: str
    qid: str
    nuggets: list[NuggetItem]


def _rows(condition: Condition, topics: Collection[Topic], runs: Collection[Run] | None) -> Rows:
    banks = finished_banks(condition).filter(topic__in=topics)
    banks = banks.prefetch_related("nuggets").order_by(byte_order("topic__qid"), "pk")
    for bank, line in zip(banks, bank_lines(banks), strict=True):
        yield (bank.topic.qid, bank.pk), read_line(line)


def _topics(condition: Condition, topics: Collection[Topic], runs: Collection[Run] | None) -> QuerySet[Topic]:
    return topics_of(finished_banks(condition).filter(topic__in=topics), "topic")


NUGGET_LIST = ApiList(
    name="nuggets",
    about="The finished banks of a condition by topic id, in the field's form; none of topics for practice.",
    schema=BankItem,
    has_runs=False,
    key=(str, int),
    rows=_rows,
    topics=_topics,
)
