"""Loading grades of questions under a condition of their own; the banks of the questions are there before."""

from collections.abc import Iterable, Iterator, Sequence

from assessor.campaigns.models import Campaign, Import
from assessor.campaigns.queries import PASSAGES_RUN
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.imports.loaders.answers import About, AnswerFinder, Place
from assessor.imports.loaders.base import Loader, Options
from assessor.imports.loaders.conditions import ANOTHER_NAME
from assignment.formats import SheetRecord
from assignment.grading.formats import PassageRecord, read_grades, read_passages
from assignment.grading.label_kind import GRADING
from assignment.loaders import AssignmentLoader
from assignment.loaders.banks import BankFinder


class PassageLoader(Loader):
    """Passages to be graded, as those of the pool are taken in. One that is there already stays as it is."""

    kind = "passages"
    label = "Passages to grade"

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return beginning.has("query_id", "doc_id", "passage") and not beginning.has_any("grade", "question")

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.answers = AnswerFinder(campaign, report)
        self.topics: dict[str, int] = dict(campaign.topics.values_list("qid", "pk"))

    def read(self, lines: Iterable[Line]) -> Iterator[PassageRecord]:
        return read_passages(lines, self.report)

    def sift(self, records: Sequence[PassageRecord]) -> list[Place]:
        asked = []
        for record in records:
            shown = f"this passage of {record.docid} on {record.qid}"
            if record.qid not in self.topics:
                expected = "a topic of the campaign; load the topics first"
                self.report.error(record.line.number, "query_id", record.qid, expected)
            elif not self.repeats(f"{record.qid} {record.docid}\n{record.text}", record.line, "doc_id", shown):
                topic = self.topics[record.qid]
                asked.append(About(record.line, PASSAGES_RUN, topic, record.text, docid=record.docid))
        places = [place for place in self.answers.find(asked, "passage") if place]
        if there := sum(place.answer is not None for place in places):
            self.report.counts["passages already there"] += there
        return [place for place in places if place.answer is None]

    def write(self, new: list[Place], import_record: Import) -> None:
        self.answers.write(new, import_record)


class QuestionFinder(BankFinder):
    """A grades file names questions, and says nothing else of them."""

    brings_nuggets = False
    knows_importance = False


class GradeLoader(AssignmentLoader):
    """The condition, and the judge of its name, are made by the first file, and further files add answers."""

    kind = "question_grades"
    label = "Grades of questions"
    brings = "grades"
    asks = ("condition", "nuggets", "by")
    takes_invalid_labels = GRADING.takes_invalid_labels
    of_kind = GRADING
    brings_nuggets = False
    labels_of = "graded"
    finder = QuestionFinder
    text_field, label_field = "passage", "grade"

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return beginning.has("query_id", "question", "passage", "grade")

    def read(self, lines: Iterable[Line]) -> Iterator[SheetRecord]:
        of_passages = self.condition.of_passages if self.condition else None
        for record in read_grades(lines, self.report):
            if of_passages is None:
                of_passages = bool(record.docid)
            if bool(record.docid) != of_passages:
                others = "passages" if of_passages else "answers"
                found = record.docid or "null"
                expected = f"{'a document' if of_passages else 'null'}: what {self.name} has is of {others}"
                remedy = f"Give grades of passages and of answers under conditions of their own. {ANOTHER_NAME}"
                self.report.error(record.line.number, "doc_id", found, expected, remedy=remedy)
                continue
            yield record._replace(run_id=record.run_id or PASSAGES_RUN)
