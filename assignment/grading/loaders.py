"""Loading grades of questions under a condition of their own; the banks of the questions are there before."""

from collections.abc import Iterable, Iterator

from assessor.campaigns.models import Condition
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assignment.formats import SheetRecord
from assignment.grading.formats import read_grades
from assignment.grading.label_kind import GRADING
from assignment.loaders import AssignmentLoader
from assignment.loaders.banks import BankFinder


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
    finder = QuestionFinder
    text_field, label_field = "passage", "grade"

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return beginning.has("run_id", "query_id", "question", "grade")

    def _find_nuggets(self, name: str) -> Condition | None:
        errors_before = self.report.error_count
        found = super()._find_nuggets(name)
        if found is None and self.report.error_count == errors_before:
            remedy = "Import the questions first, then name their condition: --nuggets NAME, or “Nuggets” on the page."
            self.report.error(0, "nuggets", name, "the condition of the questions that are graded", remedy=remedy)
        return found

    def read(self, lines: Iterable[Line]) -> Iterator[SheetRecord]:
        return read_grades(lines, self.report)
