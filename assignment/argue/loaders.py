"""Loading judgments of reports under a condition of their own; the banks of the questions are there before."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assessor.campaigns.models import Campaign, Citation, Import, Sentence
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.imports.loaders.answers import About, AnswerFinder, Place
from assessor.imports.loaders.base import Options
from assessor.imports.loaders.conditions import make_condition
from assignment.argue.actions import add_sheets, bring_up_to_date, keys_of, sheet_row
from assignment.argue.formats import JudgedSentence, Matched, ReportRecord, read_reports
from assignment.argue.items import Bank, Item, bank_of
from assignment.argue.label_kind import ARGUE
from assignment.argue.measures import Answer, relevant
from assignment.argue.models import ArgueSheet
from assignment.argue.vocabulary import ANSWERS, FIRST, NEEDS, NEGATIVE, NO, YES
from assignment.loaders.nuggets import NuggetLabelsLoader
from nuggets.editions import Snapshot
from nuggets.models import NuggetBank
from nuggets.queries import banks_by_topic, present_editions


class _Questions(NamedTuple):
    """A topic's bank. answers: uid and id of gold answers by the texts, without further blanks, of both."""

    bank: NuggetBank
    nuggets: Snapshot
    asked: Bank
    relevant: frozenset[str]
    answers: dict[str, dict[str, Answer]]


class NewSheet(NamedTuple):
    """What a line says, and of which report. labels: by item's key."""

    qid: str
    place: Place
    items: list[Item]
    labels: dict[str, str]
    record: ReportRecord


class ArgueLoader(NuggetLabelsLoader):
    """The condition, and the judge of its name, are made by the first file, and further files add reports."""

    kind = "argue_judgments"
    label = "Judgments of reports (ARGUE)"
    brings = "judgments of reports"
    of_kind = ARGUE
    labels_of = "asked"

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return beginning.has("report", "judgments")

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.answers = AnswerFinder(campaign, report)
        self._protocol = self.condition.protocol if self.condition else campaign.protocol
        self._questions: dict[str, _Questions] = {}

    def read(self, lines: Iterable[Line]) -> Iterator[ReportRecord]:
        return read_reports(lines, self.report)

    def sift(self, records: Sequence[ReportRecord]) -> list[NewSheet]:
        self._look_for({record.qid for record in records})
        known = [record for record in records if self._has_questions(record)]
        places = self.answers.find([self._about(record) for record in known], "report.responses")
        loaded = self._loaded_sheets([place for place in places if place])
        new = []
        for record, place in zip(known, places, strict=True):
            shown = f"{record.run_id} on {record.qid}"
            if place is None or self.repeats(f"{record.qid} {place.tag}", record.line, "report.metadata.run_id", shown):
                continue
            sheet = self._sheet(record, place)
            if sheet and self._is_new(sheet, loaded):
                new.append(sheet)
        return new

    def _look_for(self, qids: Iterable[str]) -> None:
        """Look for the finished banks of topics that were not met before."""
        new = [self.topics[qid] for qid in qids if qid in self.topics and qid not in self._questions]
        if not new or self.nuggets is None:
            return
        banks = banks_by_topic(self.nuggets, new).values()
        editions = present_editions(banks)
        for bank in banks:
            nuggets = editions[bank.pk].nuggets
            asked = bank_of(nuggets, self._protocol)
            answers = {
                _folded(nugget["text"]): {
                    _folded(gold["text"]): (nugget["uid"], gold["id"]) for gold in nugget.get("gold") or ()
                }
                for nugget in nuggets
            }
            self._questions[bank.topic.qid] = _Questions(bank, nuggets, asked, relevant(asked.questions), answers)

    def _has_questions(self, record: ReportRecord) -> bool:
        field = "report.metadata.topic_id"
        if record.qid not in self.topics:
            expected = "a topic of the campaign; load the topics first"
            self.report.error(record.line.number, field, record.qid, expected)
        elif record.qid not in self._questions:
            expected = f"a topic whose questions are finished under {self.nuggets or self.name_of_nuggets}"
            self.report.error(record.line.number, field, record.qid, expected)
        return record.qid in self._questions

    def _about(self, record: ReportRecord) -> About:
        sentences = tuple(
            Sentence(at, text, tuple(Citation(*pair) for pair in enumerate(docids)))
            for at, (text, docids) in enumerate(record.sentences)
        )
        return About(record.line, record.run_id, self.topics[record.qid].pk, record.text, sentences)

    def _loaded_sheets(self, places: Sequence[Place]) -> dict[int, ArgueSheet]:
        """Return the condition's sheets on the answers that were found, by answer's key."""
        if self.condition is None:
            return {}
        answers = [answer for place in places for answer in place.known]
        sheets = ArgueSheet.in_or_out.filter(condition=self.condition, answer__in=answers)
        return {sheet.answer_id: sheet for sheet in sheets.order_by("pk")}

    def _is_new(self, sheet: NewSheet, loaded: dict[int, ArgueSheet]) -> bool:
        there = next((loaded[answer] for answer in sheet.place.known if answer in loaded), None)
        if there is None:
            return True
        if there.extras != {"line": sheet.record.record}:
            expected = f"the same line as {self.name} has of {sheet.record.run_id} on {sheet.qid} already"
            self.report.error(sheet.record.line.number, "", "another line", expected)
        self.report.counts["sheets already there"] += 1
        return False

    def _sheet(self, record: ReportRecord, place: Place) -> NewSheet | None:
        """Return what a line says, or None where it names what its topic's bank has not."""
        errors_before = self.report.error_count
        sheet = NewSheet(record.qid, place, [], {}, record)
        for at, ((_, docids), judged) in enumerate(zip(record.sentences, record.judged, strict=False)):
            sentence = Sentence(at, "", tuple(Citation(*pair) for pair in enumerate(docids)))
            self._add(sheet, sentence, judged)
        return sheet if self.report.error_count == errors_before else None

    def _add(self, sheet: NewSheet, sentence: Sentence, judged: JudgedSentence) -> None:
        """Add what is said of a sentence, and what is asked of it and not said."""
        questions, at = self._questions[sheet.qid], sentence.position
        steps = {Item(at, docid, step): YES if value else NO for (step, docid), value in judged.steps.items()}
        labels = {item.key: label for item, label in steps.items()}
        stated = {docid: self._answers(sheet, matched) for docid, matched in judged.matched.items()}
        asked = questions.asked.items([sentence], labels)
        if not sentence.citations:
            asked = self._of_text(asked, judged)
        # What the file says, and the bank's gate leaves out, was asked where the file was made.
        items = {item.key: item for item in (*asked, *steps)}
        items |= {one.key: one for docid, given in stated.items() for one in self._items(at, docid, given)}
        for key, item in items.items():
            if item.step == ANSWERS and item.docid in stated:
                labels[key] = YES if (item.nugget, item.gold) in stated[item.docid] else NO
        self._compare_relevance(sheet, judged)
        sheet.items.extend(items.values())
        sheet.labels.update(labels)

    def _of_text(self, asked: Sequence[Item], judged: JudgedSentence) -> list[Item]:
        """Return what is asked of a sentence that cites nothing: whether it is a claim only where the file says so."""
        said = {step for step, _ in judged.steps}
        return [item for item in asked if item.step in (NEEDS, FIRST) or NEGATIVE in said]

    def _items(self, at: int, docid: str, answers: Iterable[Answer]) -> Iterator[Item]:
        return (Item(at, docid, ANSWERS, *answer) for answer in sorted(answers))

    def _answers(self, sheet: NewSheet, matched: Sequence[Matched]) -> set[Answer]:
        """Return the answers of the bank that a file says are stated; others are errors."""
        known, number = self._questions[sheet.qid].answers, sheet.record.line.number
        called, found = f"of {sheet.qid} under {self.nuggets}", set()
        for field, question, answers in matched:
            of_question = known.get(_folded(question))
            if of_question is None:
                self.report.error(number, f"{field}.question_text", question, f"a question {called}")
                continue
            for answer in answers:
                if _folded(answer) in of_question:
                    found.add(of_question[_folded(answer)])
                else:
                    expected = f"a gold answer to “{question}” {called}"
                    self.report.error(number, f"{field}.matched_answer", answer, expected)
        return found

    def _compare_relevance(self, sheet: NewSheet, judged: JudgedSentence) -> None:
        """Warn of a document that the file calls relevant, or not, where the bank's references say otherwise."""
        known = self._questions[sheet.qid].relevant
        for docid, (field, is_relevant) in judged.relevant.items():
            if is_relevant != (docid in known):
                found, expected = ("true", "false") if is_relevant else ("false", "true")
                told = f"{expected}, by the references of the bank's gold answers, which count: {docid}"
                self.report.warn("relevance differs", sheet.record.line.number, field, found, told)

    def write(self, new: list[NewSheet], import_record: Import) -> None:
        if not new:
            return
        if self.condition is None:
            self.condition = make_condition(
                import_record, self.report, kind=ARGUE.name, name=self.name, by=self.by, nuggets=self.nuggets
            )
        condition, judge = self.condition.pk, self.condition.judge_id
        assert judge is not None, "an imported condition has a judge"
        answers = self.answers.write([sheet.place for sheet in new], import_record)
        add_sheets(
            sheet_row(
                condition=condition,
                bank=questions.bank.pk,
                answer=answer,
                judge=judge,
                edition=questions.bank.edition,
                cut=len(sheet.record.sentences) - len(sheet.record.judged),
                items=sheet.items,
                nuggets=keys_of(questions.nuggets),
                labels=sheet.labels,
                extras={"line": sheet.record.record},
                import_record=import_record.pk,
            )
            for sheet, answer in zip(new, answers, strict=True)
            for questions in [self._questions[sheet.qid]]
        )
        self.report.counts["sheets added"] += len(new)
        self.report.counts["labels added"] += sum(len(sheet.labels) for sheet in new)

    def finish(self, import_record: Import) -> None:
        self.answers.finish(import_record)
        known = [questions.bank.pk for questions in self._questions.values()]
        banks = NuggetBank.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=known)
        for bank in banks.order_by("pk"):  # people may have finished one again since
            bring_up_to_date(bank, ArgueSheet.everything.filter(import_record=import_record, bank=bank))


def _folded(text: str) -> str:
    return " ".join(text.split())
