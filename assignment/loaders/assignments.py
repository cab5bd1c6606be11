"""Loading assignments under a condition of their own, with the banks, runs and answers that they bring."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from assessor.campaigns.models import Campaign, Condition, Import
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.imports.loaders.answers import About, AnswerFinder, Place
from assessor.imports.loaders.base import Options
from assessor.imports.loaders.conditions import make_condition
from assessor.labels.models import Label
from assessor.labels.new_sheets import SheetRow
from assessor.runtime.commits import after_commit
from assignment import models
from assignment.actions.finished_banks import bring_up_to_date
from assignment.actions.judged_answers import add_sheets, sheet_row
from assignment.actions.preparation import open_labelled
from assignment.formats import SheetRecord, begins_sheets, read_sheets
from assignment.label_kind import ASSIGNMENT, Assignment
from assignment.loaders.banks import BankFinder, MatchedBank
from assignment.loaders.nuggets import NuggetLabelsLoader
from assignment.models import AnswerSheet
from nuggets.formats import BankRecord


class Kept(NamedTuple):
    """What is kept of a line: labels and other keys of nuggets, by nugget's id, and further keys of the line."""

    labels: dict[int, str]
    raw: dict[int, dict[str, Any]]
    extras: dict[str, Any]


class NewSheet(NamedTuple):
    """What a line says, by the nuggets' places in the bank. labels: "" where there is none.

    invalid: what stood where a label should; further: further keys of nuggets.
    """

    qid: str
    place: Place
    labels: list[str]
    invalid: dict[int, Any]
    further: dict[int, dict[str, Any]]
    extras: dict[str, Any]

    def kept(self, bank: MatchedBank) -> Kept:
        """Return what is kept of it, once the bank has been written."""
        labels = {nugget: label for nugget, label in zip(bank.ids, self.labels, strict=True) if label}
        raw = {bank.ids[at]: dict(keys) for at, keys in self.further.items()}
        for at, found in self.invalid.items():
            raw.setdefault(bank.ids[at], {})[models.Assignment.FILE_KEY] = found
        return Kept(labels, raw, self.extras)


class NewSheets(NamedTuple):
    """What a batch brings: banks of topics that have none yet, and sheets."""

    banks: list[BankRecord]
    sheets: list[NewSheet]


class AssignmentLoader(NuggetLabelsLoader):
    """The condition, and the judge of its name, are made by the first file, and further files add answers."""

    kind = "assignments"
    label = "Assignments"
    brings = "assignments"
    asks: ClassVar[Sequence[str]] = ("condition", "nuggets", "by", "invalid_labels")
    takes_invalid_labels = ASSIGNMENT.takes_invalid_labels
    of_kind: ClassVar[Assignment] = ASSIGNMENT
    brings_nuggets = True
    finder = BankFinder
    text_field, label_field = "answer_text", "assignment"  # of lines

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_sheets(beginning)

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.banks = self.finder(self.nuggets, self.name_of_nuggets, options, report)
        self.answers = AnswerFinder(campaign, report)
        self._labelled: set[int] = set()  # topics with new labels, by key

    def read(self, lines: Iterable[Line]) -> Iterator[SheetRecord]:
        return read_sheets(lines, self.report, invalid_labels=self.options.get("invalid_labels", ""))

    def sift(self, records: Sequence[SheetRecord]) -> NewSheets:
        known = [record for record in records if self._has_topic(record)]
        self.banks.look_for({self.topics[record.qid] for record in known})
        asked = [
            About(record.line, record.run_id, self.topics[record.qid].pk, record.text, docid=record.docid)
            for record in known
        ]
        places = self.answers.find(asked, self.text_field)
        loaded = self._loaded_sheets([place for place in places if place])
        new = NewSheets([], [])
        for record, place in zip(known, places, strict=True):
            sheet = self._sheet(record, place, new.banks) if place else None
            if sheet and self._is_new(record, sheet, loaded):
                new.sheets.append(sheet)
        return new

    def _has_topic(self, record: SheetRecord) -> bool:
        if record.qid in self.topics:
            return True
        self.report.error(record.line.number, "qid", record.qid, "a topic of the campaign; load the topics first")
        return False

    def _loaded_sheets(self, places: Sequence[Place]) -> dict[int, AnswerSheet]:
        """Return the condition's sheets on the answers that were found, by answer's key."""
        if self.condition is None:
            return {}
        answers = [answer for place in places for answer in place.known]
        sheets = AnswerSheet.in_or_out.filter(condition=self.condition, answer__in=answers)
        return {sheet.answer_id: sheet for sheet in AnswerSheet.with_items(sheets.order_by("pk"))}

    def _sheet(self, record: SheetRecord, place: Place, banks: list[BankRecord]) -> NewSheet | None:
        if record.docid:
            key, field, shown = f"{record.docid}\n{record.text}", "doc_id", f"this passage of {record.docid}"
        else:
            key, field, shown = "", "run_id", record.run_id
        if self.repeats(f"{record.qid} {place.tag}\n{key}", record.line, field, f"{shown} on {record.qid}"):
            return None
        order = self.banks.order(record, banks)
        if order is None:
            return None
        return NewSheet(
            record.qid,
            place,
            [record.labels[at] for at in order],
            {to: record.invalid[at] for to, at in enumerate(order) if at in record.invalid},
            {to: extras for to, at in enumerate(order) if (extras := record.nuggets[at].extras)},
            record.extras | self._differing(record, place),
        )

    def _differing(self, record: SheetRecord, place: Place) -> dict[str, str]:
        """Return what the line has else than what is loaded, to be written again as it came."""
        differing = {}
        title = self.topics[record.qid].title
        if record.query is not None and record.query != title:
            differing["query"] = record.query
            if not self.seen.before(f"{record.qid}\n{record.query}", record.line):  # once for all runs
                expected = f"{title}, the topic's title"
                self.report.warn("query differs", record.line.number, "query", record.query, expected)
        if record.run_id != place.tag:
            differing["run_id"] = record.run_id
        if place.differs:
            differing["answer_text"] = record.text
        return differing

    def _is_new(self, record: SheetRecord, sheet: NewSheet, loaded: dict[int, AnswerSheet]) -> bool:
        there = next((loaded[answer] for answer in sheet.place.known if answer in loaded), None)
        if there is None:
            return True
        self._compare(record, sheet, there)
        self.report.counts["sheets already there"] += 1
        return False

    def _compare(self, record: SheetRecord, sheet: NewSheet, there: AnswerSheet) -> None:
        """Report what a line says else than the condition's sheet of that run and topic."""
        number, errors_before = record.line.number, self.report.error_count
        name = f"as {self.name} has {record.run_id} on {record.qid} already"
        bank = self.banks.of(record.qid)
        kept = sheet.kept(bank)
        rows = there.labels_by_item.values()
        labels = {row.nugget_id: row.value for row in rows if row.state == Label.State.GIVEN}
        for nugget, (text, _) in zip(bank.ids, bank.nuggets, strict=True):
            found, known = kept.labels.get(nugget, "no label"), labels.get(nugget, "no label")
            if found != known:
                self.report.error(number, self.label_field, f"{found} of {text}", f"{known}, {name}")
        if self.report.error_count > errors_before:
            return
        if there.answer_id != sheet.place.answer:
            self.report.error(number, self.text_field, record.text, f"the same text {name}")
        elif kept != (labels, {row.nugget_id: row.raw for row in rows if row.raw}, there.extras) or (
            there.bank_id != bank.pk
        ):
            self.report.error(number, "", "another line", f"the same line {name}")

    def write(self, new: NewSheets, import_record: Import) -> None:
        if not new.sheets:
            return
        self.banks.write(new.banks, import_record)
        if self.condition is None:
            self.condition = make_condition(
                import_record,
                self.report,
                kind=self.of_kind.name,
                name=self.name,
                by=self.by,
                nuggets=self.banks.condition,
                of_passages=bool(new.sheets[0].place.docid),
            )
        answers = self.answers.write([sheet.place for sheet in new.sheets], import_record)
        pairs = zip(new.sheets, answers, strict=True)
        add_sheets(self._row(self.condition, sheet, answer, import_record) for sheet, answer in pairs)
        self._labelled.update(self.topics[sheet.qid].pk for sheet in new.sheets)
        self.report.counts["sheets added"] += len(new.sheets)
        self.report.counts["labels added"] += sum(len(list(filter(None, sheet.labels))) for sheet in new.sheets)

    def _row(self, condition: Condition, sheet: NewSheet, answer: int, import_record: Import) -> SheetRow:
        assert condition.judge_id is not None, "an imported condition has a judge"
        bank = self.banks.of(sheet.qid)
        return sheet_row(
            condition=condition.pk,
            bank=bank.pk,
            answer=answer,
            judge=condition.judge_id,
            edition=bank.edition,
            nuggets=bank.ids,
            import_record=import_record.pk,
            **sheet.kept(bank)._asdict(),
        )

    def finish(self, import_record: Import) -> None:
        for bank in self.banks.finish(import_record):
            bring_up_to_date(bank, AnswerSheet.everything.filter(import_record=import_record, bank=bank))

    def follow(self) -> None:
        """Open the answers that waited for these labels to stand beside the choices."""
        if self.condition and self.condition.post_edited_by.exists():
            after_commit(open_labelled, self.condition, self._labelled)
