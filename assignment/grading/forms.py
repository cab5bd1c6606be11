"""What organizers fill in to have questions graded."""

from collections.abc import Mapping
from typing import Any

from django import forms

from assessor.accounts.models import Person
from assessor.campaigns.forms import RecordField
from assessor.campaigns.models import Answer, Campaign, Condition
from assessor.campaigns.queries import PASSAGES_RUN, pooled
from assignment.actions import create_manual_assign
from assignment.forms import LabellingFields
from assignment.grading.label_kind import GRADING, MANUAL

_OF_PASSAGES = "ManualGrade of passages"  # a card of its own, of the same method


class GradingFields(LabellingFields):
    kind = GRADING
    METHODS = {
        MANUAL: ("Grading by people", "People grade how well an answer answers each question, 0 to 5."),
        _OF_PASSAGES: ("Grading of passages by people", "The same of the pool's passages: their grades make qrels."),
    }
    NEEDS = dict.fromkeys(METHODS, ("questions",))

    questions = RecordField(
        Condition.objects.none(),
        label="Questions",
        required=False,
        help_text="Whoever made the questions of a topic grades them.",
    )

    def usual_name(self, method: str, filled_in: Mapping[str, Any]) -> str:
        name = super().usual_name(method, filled_in)
        return f"{name}, passages" if method == _OF_PASSAGES else name

    def create(self, filled_in: Mapping[str, Any], *, acting_user: Person | None) -> Condition:
        return create_manual_assign(
            nuggets=filled_in["questions"],
            name=filled_in["name"],
            acting_user=acting_user,
            kind=self.kind,
            of_passages=filled_in["method"] == _OF_PASSAGES,
        )


class PassagesForm(forms.Form):
    """Has the pool's passages taken in, and says how many there are and how many were."""

    def __init__(self, campaign: Campaign) -> None:
        super().__init__()
        self.pooled = pooled(campaign).order_by().values("topic", "docid").distinct().count()
        taken_in = Answer.objects.filter(run__campaign=campaign, run__tag=PASSAGES_RUN, form=Answer.Form.PASSAGE)
        self.added = taken_in.count()
