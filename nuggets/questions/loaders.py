"""Loading banks of questions under a condition of their own."""

from collections.abc import Iterable, Iterator, Sequence

from assessor.campaigns.models import Campaign, Import
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.imports.loaders.base import Options
from nuggets.formats import BankRecord
from nuggets.loaders import NuggetLoader
from nuggets.questions.condition_kind import QUESTIONS
from nuggets.questions.formats import TOPIC_OF, begins_questions, read_question_banks


class QuestionLoader(NuggetLoader):
    """A file of one run, or of no run at all: the condition of its name is made by the first one."""

    kind = "questions"
    label = "Question nuggets"
    brings = "questions"
    of_kind = QUESTIONS.name

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_questions(beginning)

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self._run_id: str | None = None

    def read(self, lines: Iterable[Line]) -> Iterator[BankRecord]:
        found = read_question_banks(lines, self.report, invalid_labels_missing=self.invalid_labels_missing)
        for bank, run_id in found:
            if self._run_id not in (None, run_id):
                expected = f"{self._run_id or 'no run'}, as above: a condition holds one run"
                remedy = "Import a file for each run."
                self.report.error(bank.line.number, "metadata.run_id", run_id, expected, remedy=remedy)
            self._run_id = run_id if self._run_id is None else self._run_id
            yield bank

    def topic_field(self, record: BankRecord) -> str:
        return TOPIC_OF[record.file_form]

    def write(self, records: Sequence[BankRecord], import_record: Import) -> None:
        super().write(records, import_record)
        gold = [answer for record in records for one in record.nuggets if one.question for answer in one.question.gold]
        self.report.counts["gold answers added"] += len(gold)
        self.report.counts["references added"] += sum(len(answer["references"] or ()) for answer in gold)
