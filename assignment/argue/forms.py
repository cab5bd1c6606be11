"""What organizers fill in to have reports judged by people."""

from collections.abc import Mapping
from typing import Any

from assessor.accounts.models import Person
from assessor.campaigns.forms import ConditionFields, RecordField
from assessor.campaigns.models import Campaign, Condition
from assignment.actions import usual_name
from assignment.argue.actions import create_manual_argue
from assignment.argue.label_kind import ARGUE, MANUAL


class ArgueFields(ConditionFields):
    METHODS = {
        MANUAL: (
            "Reports judged by people",
            "People judge reports sentence by sentence: support, and which questions are answered.",
        )
    }
    NEEDS = {MANUAL: ("argue_questions",)}

    argue_questions = RecordField(
        Condition.objects.none(),
        label="Questions with gold answers",
        required=False,
        help_text="A topic can be judged once its questions are finished.",
    )

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(campaign)
        banks = campaign.conditions.filter(kind__in=ARGUE.builds_on)
        self.fields["argue_questions"].queryset = banks  # type: ignore[attr-defined]

    def usual_name(self, method: str, filled_in: Mapping[str, Any]) -> str:
        questions = filled_in.get("argue_questions")
        return usual_name(questions, "ARGUE by people") if questions else method

    def create(self, filled_in: Mapping[str, Any], *, acting_user: Person | None) -> Condition:
        return create_manual_argue(
            questions=filled_in["argue_questions"], name=filled_in["name"], acting_user=acting_user
        )
