"""Banks of questions in the forms of the field."""

from collections.abc import Collection, Iterable, Iterator

from assessor.campaigns.models import Condition, Topic
from assessor.campaigns.queries import byte_order, without_practice
from nuggets.models import NuggetBank
from nuggets.queries import finished_banks, nuggets_in_order
from nuggets.questions.formats import WrittenBank, write_question_bank
from nuggets.records import as_record

_AT_A_TIME = 200


def condition_lines(condition: Condition, topics: Collection[Topic] | None, form: str) -> Iterator[str]:
    """Yield the finished banks of a condition, a line each, by topic id; of these topics alone."""
    banks = without_practice(finished_banks(condition)).prefetch_related("nuggets")
    banks = banks.select_related("maker").order_by(byte_order("topic__qid"), "pk")
    if topics is not None:
        banks = banks.filter(topic__in=[topic.pk for topic in topics])
    return bank_lines(banks.iterator(_AT_A_TIME), form)


def bank_lines(banks: Iterable[NuggetBank], form: str) -> Iterator[str]:
    """Yield a line for each bank, questions in their order; notes and readings stay with their maker."""
    for bank in banks:
        topic, maker = bank.topic, bank.maker.name
        records = [as_record(nugget, bank.order, with_lineage=False) for nugget in nuggets_in_order(bank)]
        written = WrittenBank(topic.qid, topic.title, records, bank.extras, bank.file_form, maker)
        yield write_question_bank(written, form)
