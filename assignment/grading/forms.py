"""What organizers fill in to have questions graded."""

from assessor.campaigns.forms import RecordField
from assessor.campaigns.models import Condition
from assignment.forms import LabellingFields
from assignment.grading.label_kind import GRADING, MANUAL, POST_EDITED


class GradingFields(LabellingFields):
    kind = GRADING
    METHODS = {
        MANUAL: ("Grading by people", "People grade how well an answer answers each question, 0 to 5."),
        POST_EDITED: ("Grading post-edited", "People grade with a model's grade beside the choices."),
    }
    NEEDS = {MANUAL: ("questions",), POST_EDITED: ("shown_grades",)}
    SHOWN = ("shown_grades",)

    questions = RecordField(
        Condition.objects.none(),
        label="Questions",
        required=False,
        help_text="Whoever made the questions of a topic grades them.",
    )
    shown_grades = RecordField(
        Condition.objects.none(),
        label="Grades to post-edit",
        required=False,
        help_text="An answer can be graded once the model has graded all questions in it.",
    )
