"""What organizers fill in to have questions graded."""

from django import forms

from assessor.campaigns.forms import RecordField
from assessor.campaigns.models import Answer, Campaign, Condition
from assessor.campaigns.queries import PASSAGES_RUN, pooled
from assignment.forms import LabellingFields
from assignment.grading.label_kind import GRADING, MANUAL, POST_EDITED

OF_PASSAGES = "ManualGrade of passages"  # a card of its own, of the same method


class GradingFields(LabellingFields):
    kind = GRADING
    METHODS = {
        MANUAL: ("Grading by people", "People grade how well an answer answers each question, 0 to 5."),
        POST_EDITED: ("Grading post-edited", "People grade with a model's grade beside the choices."),
        OF_PASSAGES: ("Grading of passages by people", "The same of the pool's passages: their grades make qrels."),
    }
    NEEDS = {MANUAL: ("questions",), POST_EDITED: ("shown_grades",), OF_PASSAGES: ("questions",)}
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

    def of_passages(self, method: str) -> bool:
        return method == OF_PASSAGES


class PassagesForm(forms.Form):
    """Has the pool's passages taken in, and says how many there are and how many were."""

    def __init__(self, campaign: Campaign) -> None:
        super().__init__()
        self.pooled = pooled(campaign).order_by().values("topic", "docid").distinct().count()
        taken_in = Answer.objects.filter(run__campaign=campaign, run__tag=PASSAGES_RUN, form=Answer.Form.PASSAGE)
        self.added = taken_in.count()
