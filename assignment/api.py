"""What the API lists of assignments."""

from typing import Any

from assessor.labels.api import LineSchema, list_of_answers
from assignment.exports import assignment_lines
from assignment.models import AnswerSheet
from nuggets.api import NuggetItem


class LabelledNugget(NuggetItem):
    """assignment: absent where there is no label that counts; of an imported file, whatever stood there."""

    assignment: Any = None


class AssignmentItem(LineSchema):
    """The labels of an answer: a line of the field's assignment files."""

    query: str
    qid: str
    nuggets: list[LabelledNugget]
    run_id: str
    answer_text: str
    response_length: int


ASSIGNMENT_LIST = list_of_answers(
    name="assignments",
    about="The labels of nuggets in answers under a condition, in NIST's form, by topic id and run's tag.",
    schema=AssignmentItem,
    sheets=AnswerSheet,
    lines=assignment_lines,
)
