"""What organizers fill in to have questions graded."""

from assessor.campaigns.forms import RecordField
from assessor.campaigns.models import Condition
from assignment.forms import LabellingFields
from assignment.grading.label_kind import GRADING, MANUAL


class GradingFields(LabellingFields):
    kind = GRADING
    METHODS = {MANUAL: ("Grading by people", "People grade how well an answer answers each question, 0 to 5.")}
    NEEDS = {MANUAL: ("questions",)}

    questions = RecordField(
        Condition.objects.none(),
        label="Questions",
        required=False,
        help_text="Whoever made the questions of a topic grades them.",
    )
