"""What organizers fill in to have questions written."""

from nuggets.forms import NuggetFields
from nuggets.questions.condition_kind import MANUAL, QUESTIONS


class QuestionFields(NuggetFields):
    METHODS = {MANUAL: ("Questions by people", "People write questions and gold answers from the relevant passages.")}
    NEEDS = {MANUAL: NuggetFields.FIELDS}
    kind = QUESTIONS
