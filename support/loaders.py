"""Loading support judgments under a condition of their own, with the runs and answers that they bring."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from assessor.campaigns.models import Campaign, Citation, Import, Sentence, Topic
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.imports.loaders.answers import About, AnswerFinder, Place
from assessor.imports.loaders.base import Options
from assessor.imports.loaders.conditions import ConditionLoader, find_condition, make_condition
from support.actions.judged_answers import add_sheets, sheet_row
from support.citations import first_places, key_of, places
from support.formats import SheetRecord, begins_sheets, read_sheets
from support.label_kind import SUPPORT
from support.models import SupportSheet


class Columns(NamedTuple):
    """What a sheet keeps of a line, by the citation's key but for further keys of the line."""

    asked: dict[str, str]  # docids
    labels: dict[str, str]
    invalid: dict[str, Any]
    extras: dict[str, Any]


class NewSheet(NamedTuple):
    """What a line says, and of which answer."""

    place: Place
    columns: Columns


class SupportLoader(ConditionLoader):
    """The condition, and the judge of its name, are made by the first file, and further files add answers."""

    kind = "support"
    label = "Support judgments"
    brings = "support judgments"
    asks = ("condition", "by", "invalid_labels")

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_sheets(beginning)

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.name, self.by = options["condition"], options["by"]
        self.condition = find_condition(campaign, options, SUPPORT.name, report)
        self.answers = AnswerFinder(campaign, report)
        self.topics: dict[str, Topic] = {topic.qid: topic for topic in campaign.topics.all()}

    def read(self, lines: Iterable[Line]) -> Iterator[SheetRecord]:
        return read_sheets(lines, self.report, invalid_labels_missing=self.invalid_labels_missing)

    def sift(self, records: Sequence[SheetRecord]) -> list[NewSheet]:
        known = [record for record in records if self._has_topic(record)]
        places = self.answers.find([self._about(record) for record in known], "sentences")
        loaded = self._loaded_sheets([place for place in places if place])
        new = []
        for record, place in zip(known, places, strict=True):
            if place is None or self._is_twice(record, place):
                continue
            sheet = NewSheet(place, _columns(record, place))
            if self._is_new(record, sheet, loaded):
                new.append(sheet)
        return new

    def _has_topic(self, record: SheetRecord) -> bool:
        if record.qid in self.topics:
            return True
        self.report.error(record.line.number, "topic_id", record.qid, "a topic of the campaign; load the topics first")
        return False

    def _about(self, record: SheetRecord) -> About:
        sentences = tuple(
            Sentence(
                at, sentence.text, tuple(Citation(*pair) for pair in enumerate(c.docid for c in sentence.citations))
            )
            for at, sentence in enumerate(record.sentences)
        )
        return About(record.line, record.run_id, self.topics[record.qid].pk, record.text, sentences)

    def _loaded_sheets(self, places: Sequence[Place]) -> dict[int, SupportSheet]:
        """Return the condition's sheets on the answers that were found, by answer's key."""
        if self.condition is None:
            return {}
        answers = [answer for place in places for answer in place.known]
        sheets = SupportSheet.in_or_out.filter(condition=self.condition, answer__in=answers)
        return {sheet.answer_id: sheet for sheet in SupportSheet.with_items(sheets.order_by("pk"))}

    def _is_twice(self, record: SheetRecord, place: Place) -> bool:
        shown = f"{record.run_id} on {record.qid}"
        return self.repeats(f"{record.qid} {place.tag}", record.line, "run_id", shown)

    def _is_new(self, record: SheetRecord, sheet: NewSheet, loaded: dict[int, SupportSheet]) -> bool:
        there = next((loaded[answer] for answer in sheet.place.known if answer in loaded), None)
        if there is None:
            return True
        self._compare(record, sheet, there)
        self.report.counts["sheets already there"] += 1
        return False

    def _compare(self, record: SheetRecord, sheet: NewSheet, there: SupportSheet) -> None:
        """Report what a line says else than the condition's sheet of that run and topic."""
        number, errors_before = record.line.number, self.report.error_count
        name = f"as {self.name} has {record.run_id} on {record.qid} already"
        if there.answer_id != sheet.place.answer:
            self.report.error(number, "sentences", record.text, f"the same sentences and citations {name}")
            return
        columns = sheet.columns
        for key in dict.fromkeys([*columns.asked, *there.asked]):
            found, known = (
                labels.get(key, "no label" if key in asked else "no such citation")
                for labels, asked in ((columns.labels, columns.asked), (there.labels, there.asked))
            )
            if found != known:
                sentence, citation = places(key)
                docid = sheet.place.sentences[sentence].citations[citation].docid
                self.report.error(number, f"sentences[{sentence}].citations", f"{found} of {docid}", f"{known}, {name}")
        asked = {key: there.labels_by_item[key].docid for key in there.asked}
        known_line = Columns(asked, there.labels, there.invalid, there.extras)
        is_same = columns == known_line and list(columns.asked) == list(asked)
        if self.report.error_count == errors_before and not is_same:
            self.report.error(number, "", "another line", f"the same line {name}")

    def write(self, new: list[NewSheet], import_record: Import) -> None:
        if not new:
            return
        if self.condition is None:
            self.condition = make_condition(import_record, self.report, kind=SUPPORT.name, name=self.name, by=self.by)
        condition, judge = self.condition.pk, self.condition.judge_id
        assert judge is not None, "an imported condition has a judge"
        answers = self.answers.write([sheet.place for sheet in new], import_record)
        keys: dict[str, Any] = {"condition": condition, "judge": judge, "import_record": import_record.pk}
        pairs = zip(new, answers, strict=True)
        add_sheets(sheet_row(answer=answer, **keys, **sheet.columns._asdict()) for sheet, answer in pairs)
        self._count(new)

    def _count(self, new: list[NewSheet]) -> None:
        counts = self.report.counts
        counts["sheets added"] += len(new)
        counts["labels added"] += sum(len(sheet.columns.labels) for sheet in new)
        brought = [sheet.place.sentences for sheet in new if sheet.place.answer is None]
        counts["sentences added"] += sum(map(len, brought))
        counts["citations added"] += sum(len(one.citations) for sentences in brought for one in sentences)

    def finish(self, import_record: Import) -> None:
        self.answers.finish(import_record)


def _columns(record: SheetRecord, place: Place) -> Columns:
    """Return what a sheet keeps of a line, once it is known where the answer has its citations."""
    columns = Columns({}, {}, {}, record.extras.copy())
    sentences: dict[str, Any] = {}
    for at, (sentence, whole) in enumerate(zip(record.sentences, place.sentences, strict=True)):
        extras: dict[str, Any] = {"text": sentence.text} if sentence.text != whole.text else {}
        extras |= sentence.extras
        position_of, further = first_places(whole), {}
        for citation in sentence.citations:
            position = position_of[citation.docid]
            key = key_of(at, position)
            columns.asked[key] = citation.docid
            if citation.label:
                columns.labels[key] = citation.label
            elif citation.found:
                columns.invalid[key] = citation.found["support"]
            number = {} if citation.number == position else {"citationID": citation.number}
            if number or citation.extras:
                further[str(position)] = number | citation.extras
        if further:
            extras["citations"] = further
        if extras:
            sentences[str(at)] = extras
    if sentences:
        columns.extras["sentences"] = sentences
    if record.run_id != place.tag:
        columns.extras["run_id"] = record.run_id
    return columns
