"""The banks that a file of assignments is about: found where they are finished, made from its lines where not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import prefetch_related_objects

from assessor.campaigns.models import Condition, Import, Topic
from assessor.formats.report import Report
from assessor.imports.loaders.base import Options, may_add_to
from assignment.formats import SheetRecord
from nuggets.formats import BankRecord, NuggetRecord
from nuggets.loaders import BankWriter
from nuggets.models import NuggetBank
from nuggets.queries import banks_by_topic, nuggets_in_order, present_editions


@dataclass
class MatchedBank:
    """A topic's nuggets, each with text and importance, and what the report calls them.

    Those of a line have no keys until write() has made a bank of them.
    """

    nuggets: list[tuple[str, str]]
    called: str
    pk: int = 0
    edition: int = 1
    ids: list[int] = field(default_factory=list)


class BankFinder:
    """Finds the nuggets that lines are about. Where the condition is imported, or new, lines also bring them."""

    brings_nuggets = True  # else they are there before
    knows_importance = True  # whether lines say it

    def __init__(self, condition: Condition | None, name: str, options: Options, report: Report) -> None:
        self._writer = BankWriter(condition, name, options["by"], report)
        is_open = condition is None or (condition.method == Condition.IMPORTED and may_add_to(condition, options))
        self._adds = self.brings_nuggets and is_open
        self._report = report
        self._known: dict[str, MatchedBank] = {}

    @property
    def condition(self) -> Condition | None:
        """Return the nugget condition, or None before write() has made it."""
        return self._writer.condition

    def look_for(self, topics: Iterable[Topic]) -> None:
        """Look for finished banks on topics that were not met before."""
        new = [topic for topic in topics if topic.qid not in self._known]
        if not new or self.condition is None:
            return
        banks = banks_by_topic(self.condition, new).values()
        editions = present_editions(banks)
        for bank in banks:
            nuggets = editions[bank.pk].nuggets
            self._known[bank.topic.qid] = MatchedBank(
                [(nugget["text"], nugget["importance"]) for nugget in nuggets],
                f"the nuggets of {bank.topic.qid} under {self.condition}",
                bank.pk,
                bank.edition,
                [nugget["id"] for nugget in nuggets],
            )

    def of(self, qid: str) -> MatchedBank:
        """Return the bank of a topic that is known."""
        return self._known[qid]

    def order(self, record: SheetRecord, banks: list[BankRecord]) -> Sequence[int] | None:
        """Return, in the bank's order, where its nuggets stand in a line, or None where they don't: that is an error.

        The bank of a topic without one is the line's nuggets, and goes to those that are to be written.
        """
        if record.qid not in self._known:
            if not self._adds:
                self._error(record, "qid", record.qid, f"a topic whose nuggets are finished under {self.condition}")
                return None
            if not record.nuggets:
                self._error(record, "nuggets", "an empty list", "at least one nugget")
                return None
            banks.append(self._new_bank(record))
        return self._matched(record, self._known[record.qid])

    def _new_bank(self, record: SheetRecord) -> BankRecord:
        number = record.line.number
        pairs = [(nugget.text, nugget.importance) for nugget in record.nuggets]
        self._known[record.qid] = MatchedBank(pairs, f"the nuggets of {record.qid} on line {number}")
        nuggets = [NuggetRecord(text, importance, {}, None) for text, importance in pairs]
        return BankRecord(record.line, record.qid, record.query or "", nuggets, [], {})

    def _matched(self, record: SheetRecord, bank: MatchedBank) -> Sequence[int] | None:
        """Match a line's nuggets with a bank's by their texts; equal texts are told apart by their order."""
        found = [(nugget.text, nugget.importance) for nugget in record.nuggets]
        if found == bank.nuggets:
            return range(len(found))
        places: dict[str, list[int]] = {}
        for at, (text, _) in enumerate(found):
            places.setdefault(text, []).append(at)
        errors_before, order = self._report.error_count, []
        for text, importance in bank.nuggets:
            if not places.get(text):
                self._error(record, "nuggets", f"no nugget {text}", f"all of {bank.called}")
                continue
            at = places[text].pop(0)
            order.append(at)
            if self.knows_importance and found[at][1] != importance:
                stated = record.nuggets[at].extras.get("importance", found[at][1] or "no importance")
                expected = f"{importance or 'no importance'}, as in {bank.called}"
                self._error(record, f"nuggets[{at}].importance", stated, expected)
        for at in sorted(at for left in places.values() for at in left):
            self._error(record, f"nuggets[{at}].text", found[at][0], f"one of {bank.called}")
        return order if self._report.error_count == errors_before else None

    def _error(self, record: SheetRecord, field: str, found: object, expected: str) -> None:
        self._report.error(record.line.number, field, found, expected)

    def write(self, records: Sequence[BankRecord], import_record: Import) -> None:
        """Make banks, and the condition with the first of them."""
        banks = self._writer.write(records, import_record)
        prefetch_related_objects(banks, "nuggets")
        for bank in banks:
            found = self._known[bank.topic.qid]
            found.pk, found.ids = bank.pk, [nugget.pk for nugget in nuggets_in_order(bank)]

    def finish(self, import_record: Import) -> list[NuggetBank]:
        """Hand the new banks in; return those that people have finished again since they were looked at."""
        self._writer.finish(import_record)
        edition_of = {bank.pk: bank.edition for bank in self._known.values()}
        banks = NuggetBank.objects.select_for_update(of=("self",), no_key=True).filter(condition=self.condition)
        return [bank for bank in banks.order_by("pk") if bank.edition != edition_of.get(bank.pk, bank.edition)]
