"""Loading nugget banks under a condition of their own."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID, uuid4

from django.db.models import QuerySet
from django.utils import timezone

from assessor.collection.formats.lines import Line
from assessor.collection.formats.report import Report
from assessor.collection.loaders.base import Loader, Options, rows_by
from assessor.collection.loaders.conditions import find_condition, make_condition
from assessor.collection.models import Campaign, Condition, Import, Topic
from nuggets.editions import snapshot
from nuggets.formats import BankRecord, Lineage, NuggetRecord, read_banks
from nuggets.models import BankEdition, Nugget, NuggetBank
from nuggets.queries import nuggets_in_order


class BankWriter:
    """Writes banks that come finished, under an imported condition that is made with the first of them."""

    def __init__(self, condition: Condition | None, name: str, by: str, report: Report) -> None:
        self.condition = condition
        self.name = name
        self._by = by
        self._report = report

    def write(self, records: Sequence[BankRecord], import_record: Import) -> list[NuggetBank]:
        """Write new banks, invisible until the import is done, and return them in this order."""
        if not records:
            return []
        if self.condition is None:
            self.condition = make_condition(
                import_record, self._report, kind=Condition.Kind.NUGGETS, name=self.name, by=self._by
            )
        topics = rows_by(import_record.campaign.topics, "qid", [record.qid for record in records])
        banks = NuggetBank.everything.bulk_create(
            NuggetBank(
                import_record=import_record,
                topic=topics[record.qid],
                condition=self.condition,
                maker=self.condition.judge,
                state=NuggetBank.State.FINISHED,
                edition=1,
                extras=record.extras,
            )
            for record in records
        )
        for bank, record in zip(banks, records, strict=True):
            _write_nuggets(bank, record)
        NuggetBank.everything.bulk_update(banks, ["order"])
        self._report.counts["banks added"] += len(banks)
        self._report.counts["nuggets added"] += sum(len(record.nuggets) for record in records)
        return banks

    def finish(self, import_record: Import) -> None:
        """Hand the banks in: their first edition is as they came."""
        banks: QuerySet[NuggetBank] = NuggetBank.everything.filter(import_record=import_record)
        BankEdition.objects.bulk_create(
            BankEdition(bank=bank, edition=bank.edition, version=bank.version, nuggets=snapshot(nuggets_in_order(bank)))
            for bank in banks.prefetch_related("nuggets")
        )
        banks.update(finished_at=timezone.now())


def _write_nuggets(bank: NuggetBank, record: BankRecord) -> None:
    """Write the nuggets of a bank; who their parents are can be said once all have their keys."""
    of_line = [(nugget, nugget.lineage or _imported()) for nugget in record.nuggets + record.ancestors]
    nuggets = Nugget.objects.bulk_create(
        Nugget(
            bank=bank,
            uid=lineage.uid,
            text=nugget.text,
            importance=nugget.importance,
            origin=lineage.origin,
            evidence=lineage.evidence,
            extras=nugget.extras,
            made_by=bank.maker,
        )
        for nugget, lineage in of_line
    )
    bank.order = [nugget.pk for nugget in nuggets[: len(record.nuggets)]]
    pk_of = {nugget.uid: nugget.pk for nugget in nuggets}
    children = []
    for nugget, (_, lineage) in zip(nuggets, of_line, strict=True):
        if lineage.parents:
            nugget.parents = [pk_of[parent] for parent in lineage.parents]
            children.append(nugget)
    Nugget.objects.bulk_update(children, ["parents"])


class NuggetLoader(Loader):
    """The condition, and the judge of its name, are made by the first file, and later files add topics."""

    kind = "nuggets"
    label = "Nuggets"
    batch_size = 50

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.name = options["condition"]
        condition = find_condition(campaign, options, Condition.Kind.NUGGETS, report)
        self.banks = BankWriter(condition, self.name, options["by"], report)

    def read(self, lines: Iterable[Line]) -> Iterator[BankRecord]:
        is_lenient = self.options.get("invalid_labels") == "missing"
        return read_banks(lines, self.report, invalid_labels_missing=is_lenient)

    def sift(self, records: Sequence[BankRecord]) -> list[BankRecord]:
        qids = [record.qid for record in records]
        topics = rows_by(self.campaign.topics, "qid", qids)
        loaded: dict[str, NuggetBank] = {}
        if self.banks.condition:
            banks = self.banks.condition.nugget_banks.filter(topic__qid__in=qids)
            loaded = {bank.topic.qid: bank for bank in banks.select_related("topic").prefetch_related("nuggets")}
        return [record for record in records if self._is_new(record, topics.get(record.qid), loaded.get(record.qid))]

    def _is_new(self, record: BankRecord, topic: Topic | None, loaded: NuggetBank | None) -> bool:
        number = record.line.number
        if topic is None:
            self.report.error(number, "qid", record.qid, "a topic of the campaign; load the topics first")
            return False
        if self.repeats(record.qid, record.line, "qid", record.qid):
            return False
        if record.query != topic.title:
            self.report.warn("query differs", number, "query", record.query, f"{topic.title}, the topic's title")
            record.extras["query"] = record.query
        if not record.nuggets:
            self.report.warn("no nuggets", number, "nuggets", "an empty list", "at least one nugget")
        if loaded is None:
            return True
        if not _is_same(record, loaded):
            expected = f"the bank of {record.qid} as {self.name} has it already"
            self.report.error(number, "nuggets", "another bank", expected)
        self.report.counts["banks already there"] += 1
        return False

    def write(self, records: Sequence[BankRecord], import_record: Import) -> None:
        self.banks.write(records, import_record)

    def finish(self, import_record: Import) -> None:
        self.banks.finish(import_record)


def _imported() -> Lineage:
    return Lineage(uuid4(), Nugget.Origin.IMPORTED, [], [])


def _is_same(record: BankRecord, loaded: NuggetBank) -> bool:
    """Say whether a bank is there as the line has it; a line without lineage says nothing about that."""
    if record.extras != loaded.extras or len(record.nuggets) != len(loaded.order):
        return False
    uid_of = {nugget.pk: nugget.uid for nugget in loaded.nuggets.all()}
    pairs = list(zip(record.nuggets, nuggets_in_order(loaded), strict=True))
    if any(nugget.lineage for nugget in record.nuggets):
        others = {nugget.uid: nugget for nugget in loaded.nuggets.all() if nugget.pk not in loaded.order}
        of_line = {nugget.lineage.uid: nugget for nugget in record.ancestors if nugget.lineage}
        if of_line.keys() != others.keys():
            return False
        pairs += [(nugget, others[uid]) for uid, nugget in of_line.items()]
    return all(_values(nugget) == _loaded_values(there, nugget, uid_of) for nugget, there in pairs)


def _values(nugget: NuggetRecord) -> tuple[Any, ...]:
    return (nugget.text, nugget.importance, nugget.extras, nugget.lineage)


def _loaded_values(nugget: Nugget, like: NuggetRecord, uid_of: dict[int, UUID]) -> tuple[Any, ...]:
    parents = [uid_of[parent] for parent in nugget.parents]
    lineage = Lineage(nugget.uid, nugget.origin, parents, nugget.evidence) if like.lineage else None
    return (nugget.text, nugget.importance, nugget.extras, lineage)
