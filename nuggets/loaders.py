"""Loading nugget banks under a condition of their own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple
from uuid import UUID, uuid4

from django.db.models import QuerySet
from django.utils import timezone

from assessor.campaigns.models import Campaign, Condition, Import, Judge, QrelsSource, Topic
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.imports.loaders.base import AddError, Options, rows_by
from assessor.imports.loaders.conditions import (
    ANOTHER_NAME,
    ConditionLoader,
    check_name,
    find_condition,
    imported_judge,
    is_open,
    make_condition,
)
from nuggets.actions import MAX_CHARACTERS
from nuggets.condition_kind import EDITS, NUGGETS
from nuggets.drafting import Step
from nuggets.editions import snapshot
from nuggets.formats import (
    BankRecord,
    Draft,
    Lineage,
    Question,
    are_drafts,
    begins_banks,
    read_banks,
)
from nuggets.models import BankEdition, Drafting, Nugget, NuggetBank
from nuggets.queries import nuggets_in_order
from nuggets.records import as_record

LACKING = "a topic of the campaign; load the topics first"


class BankWriter:
    """Writes banks that come finished, under an imported condition that is made with the first of them."""

    def __init__(
        self, condition: Condition | None, name: str, by: str, report: Report, *, kind: str = NUGGETS.name
    ) -> None:
        self.condition = condition
        self.name = name
        self._kind = kind
        self._by = by
        self._report = report

    def write(self, records: Sequence[BankRecord], import_record: Import) -> list[NuggetBank]:
        """Write new banks, invisible until the import is done, and return them in this order."""
        if not records:
            return []
        if self.condition is None:
            self.condition = make_condition(import_record, self._report, kind=self._kind, name=self.name, by=self._by)
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
                file_form=record.file_form,
            )
            for record in records
        )
        for bank, record in zip(banks, records, strict=True):
            if record.drafts:
                bank.drafting = _drafting(self.condition, bank.topic, import_record, record.drafts)
                bank.drafting.save()
            _write_nuggets(bank, record)
        NuggetBank.everything.bulk_update(banks, ["order", "drafting"])
        self._report.counts["banks added"] += len(banks)
        self._report.counts[f"{self._kind} added"] += sum(len(record.nuggets) for record in records)
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
    """Write the nuggets of a bank."""
    off = [*record.ancestors, *record.deleted]
    of_line = [(nugget, nugget.lineage or _imported()) for nugget in record.nuggets + off]
    nuggets = Nugget.objects.bulk_create(
        Nugget(
            bank=bank,
            uid=lineage.uid,
            text=nugget.text,
            importance=nugget.importance,
            origin=lineage.origin,
            parents=[str(parent) for parent in lineage.parents],
            evidence=lineage.evidence,
            draft=lineage.draft,
            extras=nugget.extras,
            made_by=bank.maker,
            **_of_question(nugget.question, [lineage.uid for _, lineage in of_line]),
        )
        for nugget, lineage in of_line
    )
    bank.order = [nugget.name for nugget in nuggets[: len(record.nuggets)]]


def _of_question(question: Question | None, uids: Sequence[UUID]) -> dict[str, Any]:
    """Return the fields that a question has alone. uids: of all nuggets of its bank, in their order."""
    if question is None:
        return {}
    under = None if question.under is None else uids[question.under]
    return {
        "gold": question.gold,
        "last_gold": len(question.gold),
        "aggregator": question.aggregator,
        "under": under,
    }


class NuggetLoader(ConditionLoader):
    """The condition, and the judge of its name, are made by the first file, and later files add topics."""

    kind = "nuggets"
    label = "Nuggets"
    of_kind = NUGGETS.name  # its conditions
    brings = "nuggets"
    makes_nuggets = True
    asks = ("condition", "by", "invalid_labels")
    batch_size = 50

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_banks(beginning) and not are_drafts(beginning)

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.name = options["condition"]
        condition = find_condition(campaign, options, self.of_kind, report)
        self.banks = BankWriter(condition, self.name, options["by"], report, kind=self.of_kind)

    def read(self, lines: Iterable[Line]) -> Iterator[BankRecord]:
        return read_banks(lines, self.report, invalid_labels_missing=self.invalid_labels_missing)

    def sift(self, records: Sequence[BankRecord]) -> list[BankRecord]:
        qids = [record.qid for record in records]
        topics = rows_by(self.campaign.topics, "qid", qids)
        loaded: dict[str, NuggetBank] = {}
        if self.banks.condition:
            banks = self.banks.condition.nugget_banks.filter(topic__qid__in=qids)
            loaded = {
                bank.topic.qid: bank for bank in banks.select_related("topic", "drafting").prefetch_related("nuggets")
            }
        return [record for record in records if self._is_new(record, topics.get(record.qid), loaded.get(record.qid))]

    def topic_field(self, record: BankRecord) -> str:
        """Return where a line has its topic's id."""
        return "qid"

    def _is_new(self, record: BankRecord, topic: Topic | None, loaded: NuggetBank | None) -> bool:
        number = record.line.number
        if topic is None:
            self.report.error(number, self.topic_field(record), record.qid, LACKING)
            return False
        if self.repeats(record.qid, record.line, self.topic_field(record), record.qid):
            return False
        if record.query is not None and record.query != topic.title:
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


class DraftRecord(NamedTuple):
    """Drafts on a topic in their order, each with its importance or "". former_qid: as of Step."""

    line: Line
    qid: str
    texts: list[str]
    importance: list[str]
    former_qid: str = ""


class DraftLoader(ConditionLoader):
    """Drafts of a model that was asked elsewhere, for people to edit: one file makes one condition."""

    kind = "drafts"
    label = "Drafts of nuggets, for people to edit"
    brings = "drafts"
    asks: ClassVar[Sequence[str]] = ("condition", "source", "maker", "invalid_labels")
    batch_size = 50
    method = EDITS
    by = "model"

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_banks(beginning) and are_drafts(beginning)

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.name, self.maker = options["condition"], self.read_maker(options)
        self.source = self._find_source(options["qrels"])
        self.condition = self._find_condition(options)
        protocol = self.condition.protocol if self.condition else campaign.protocol
        self.most = protocol.max_drafts

    @classmethod
    def suggest(cls, campaign: Campaign, words: Sequence[str]) -> Options:
        peoples = campaign.qrels_sources.filter(by=QrelsSource.By.PEOPLE).values_list("name", flat=True)[:2]
        return super().suggest(campaign, words) | {"source": peoples[0] if len(peoples) == 1 else ""}

    @classmethod
    def read_form(cls, filled_in: Mapping[str, Any], add_error: AddError) -> Options:
        qrels, maker = (filled_in.get(field, "").strip() for field in ("source", "maker"))
        name = cls.read_condition(filled_in, add_error)
        if not qrels:
            add_error("source", "Name people's grades: the editor shows the passages that they found relevant.")
        if not maker:
            add_error("maker", "Say which model made these drafts.")
        return {"condition": name, "qrels": qrels, "maker": maker}

    def read_maker(self, options: Options) -> str:
        """Return the name of the judge who made the drafts."""
        return options["maker"]

    def _find_source(self, name: str) -> QrelsSource | None:
        """Return the grades by which the editor shows passages beside the drafts."""
        source: QrelsSource | None = self.campaign.qrels_sources.filter(name=name).first()
        if source is None or source.by != QrelsSource.By.PEOPLE:
            found = f"{name}, graded by a model" if source else name
            peoples = self.campaign.qrels_sources.filter(by=QrelsSource.By.PEOPLE).values_list("name", flat=True)
            expected = f"people's grades of the campaign: {', '.join(peoples) or 'load some first'}"
            self.report.error(0, "qrels", found, expected)
            return None
        return source

    def _find_condition(self, options: Options) -> Condition | None:
        """Return the condition that this very file made before, or None where it is to make it."""
        if not check_name(self.name, "condition", self.report) or not check_name(self.maker, "maker", self.report):
            return None
        found = self.campaign.conditions.filter(name=self.name)
        condition = found.select_related("judge", "qrels_source", "import_record", "protocol").first()
        if condition is None or not is_open(condition, options, self.report):
            return None
        if condition.import_record is None or condition.method != self.method:
            found_there = f"{self.name}, {condition.kind} by {condition.method}"
            self._refuse("condition", found_there, f"a new name, or that of imported {self.brings}")
            return None
        assert condition.judge is not None, "who made a file"
        if self.maker != str(condition.judge):
            self._refuse("maker", self.maker, f"{condition.judge}, as {self.name} is known already")
        elif self.by != condition.judge.parameters["by"]:
            self._refuse("by", self.by, f"{condition.judge.parameters['by']}, as {self.name} is known already")
        elif self.source and self.source != condition.qrels_source:
            self._refuse("qrels", str(self.source), f"{condition.qrels_source}, as {self.name} is known already")
        return condition

    def _refuse(self, field: str, found: str, expected: str, line: int = 0) -> None:
        self.report.error(line, field, found, expected, remedy=ANOTHER_NAME)

    def read(self, lines: Iterable[Line]) -> Iterator[DraftRecord]:
        for record in read_banks(lines, self.report, invalid_labels_missing=self.invalid_labels_missing):
            self.warn_of_keys(record)
            # As the editor folds what is typed, so that an untouched draft is equal to what it was.
            texts = [" ".join(nugget.text.split()) for nugget in record.nuggets]
            importance = [nugget.importance for nugget in record.nuggets]
            qid, former = self.read_topic(record)
            yield DraftRecord(record.line, qid, texts, importance, former)

    def read_topic(self, record: BankRecord) -> tuple[str, str]:
        """Return the id of a line's topic here and, where it has another one there, in the former edition."""
        return record.qid, ""

    def warn_of_keys(self, record: BankRecord) -> None:
        """Report it where a line says more than is kept."""
        if (
            record.extras.keys() - {"qid"}
            or record.ancestors
            or any(nugget.extras or nugget.lineage for nugget in record.nuggets)
        ):
            number = record.line.number
            self.report.warn("further keys left out", number, "nuggets", "more keys", "text and importance alone")

    def sift(self, records: Sequence[DraftRecord]) -> list[DraftRecord]:
        qids = [record.qid for record in records]
        topics = rows_by(self.campaign.topics, "qid", qids)
        loaded: dict[str, Drafting] = {}
        if self.condition:
            there = self.condition.draftings.filter(topic__qid__in=qids).select_related("topic")
            loaded = {drafting.topic.qid: drafting for drafting in there}
        return [record for record in records if self._is_new(record, topics.get(record.qid), loaded.get(record.qid))]

    def _is_new(self, record: DraftRecord, topic: Topic | None, loaded: Drafting | None) -> bool:
        number, report = record.line.number, self.report
        field = "topic" if record.former_qid else "qid"
        if topic is None:
            report.error(number, field, record.qid, LACKING)
            return False
        if self.repeats(record.qid, record.line, field, record.qid):
            return False
        if self.condition and loaded and loaded.former_qid != record.former_qid:
            expected = f"{loaded.former_qid or record.qid}, as {self.name} has it"
            self._refuse("qid", record.former_qid or record.qid, expected, number)
        if not 0 < len(record.texts) <= self.most:
            found, expected = f"{len(record.texts)} drafts", f"1 to {self.most}"
            report.error(number, "nuggets", found, expected, remedy="The protocol says how long a model's list may be.")
        for at, text in enumerate(record.texts):
            if len(text) > MAX_CHARACTERS:
                found, expected = f"{len(text):,} characters", f"at most {MAX_CHARACTERS:,}, as in the editor"
                report.error(number, f"nuggets[{at}].text", found, expected)
        if self.condition is None:
            return True
        if loaded is None:
            self._refuse("qid", record.qid, f"a topic of the file that made {self.name}", number)
        elif (loaded.nuggets, loaded.labels) != (record.texts, record.importance):
            self._refuse("nuggets", "other drafts", f"those that {self.name} has on {record.qid} already", number)
        report.counts["drafts already there"] += len(record.texts)
        return False

    def end(self) -> None:
        """Refuse a file that made a condition of another name: its drafts are there already."""
        if self.condition is None and not self.report.error_count:
            condition = self._made_of(Import(file_name=self.report.file_name, sha256=self.sha256))
            same = self.campaign.conditions.filter(identity=condition.describe()).first()
            if same:
                expected = f"drafts that are not there yet; {same} has these"
                self.report.error(0, "condition", self.name, expected, remedy=f"Give people topics under {same}.")

    def write(self, records: Sequence[DraftRecord], import_record: Import) -> None:
        if not records:
            return
        if self.condition is None:
            self.condition = self._made_of(import_record, imported_judge(self.maker, self.by))
            self.condition.save()
            self.report.counts["conditions added"] += 1
        topics = rows_by(self.campaign.topics, "qid", [record.qid for record in records])
        Drafting.everything.bulk_create(
            _drafting(
                self.condition,
                topics[record.qid],
                import_record,
                [Draft(*pair) for pair in zip(record.texts, record.importance, strict=True)],
                record.former_qid,
            )
            for record in records
        )
        self.report.counts["topics with drafts"] += len(records)
        self.report.counts["drafts added"] += sum(len(record.texts) for record in records)

    def _made_of(self, import_record: Import, judge: Judge | None = None) -> Condition:
        """Return the condition that a file makes, not saved; without a judge, to be described only."""
        return Condition(
            import_record=import_record,
            campaign=self.campaign,
            name=self.name,
            kind=NUGGETS.name,
            method=self.method,
            qrels_source=self.source,
            judge=judge or Judge(name=self.maker),
            protocol=self.campaign.protocol,
            created_by=import_record.person,
        )


def _drafting(
    condition: Condition, topic: Topic, import_record: Import, drafts: Sequence[Draft], former_qid: str = ""
) -> Drafting:
    """Return a list that came in a file, not saved."""
    importance = [draft.importance for draft in drafts]
    return Drafting(
        import_record=import_record,
        condition=condition,
        topic=topic,
        judge=condition.judge,
        steps=[Step([], [draft.text for draft in drafts], former_qid=former_qid).as_json()],
        importance=[importance] if any(importance) else [],
    )


def _imported() -> Lineage:
    return Lineage(uuid4(), Nugget.Origin.IMPORTED, [], [])


def _is_same(record: BankRecord, loaded: NuggetBank) -> bool:
    """Say whether a bank is there as the line has it; a line without lineage says nothing about that."""
    if (record.extras, record.file_form) != (loaded.extras, loaded.file_form):
        return False
    if len(record.nuggets) != len(loaded.order):
        return False
    pairs = list(zip(record.nuggets, nuggets_in_order(loaded), strict=True))
    if any(nugget.lineage for nugget in record.nuggets):
        others = {nugget.uid: nugget for nugget in loaded.nuggets.all() if nugget.name not in loaded.order}
        drafting = loaded.drafting
        drafts = list(zip(drafting.nuggets, drafting.labels, strict=True)) if drafting else []
        if drafts != [tuple(draft) for draft in record.drafts]:
            return False
        off = [*record.ancestors, *record.deleted]
        of_line = {nugget.lineage.uid: nugget for nugget in off if nugget.lineage}
        if of_line.keys() != others.keys():
            return False
        pairs += [(nugget, others[uid]) for uid, nugget in of_line.items()]
    return all(nugget == as_record(there, loaded.order, with_lineage=bool(nugget.lineage)) for nugget, there in pairs)
