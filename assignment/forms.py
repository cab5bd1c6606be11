"""What organizers fill in to have nuggets assigned, and control runs made."""

from collections.abc import Mapping
from typing import Any

from django import forms

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import names_of_nuggets
from assessor.campaigns.forms import ConditionFields, RecordField
from assessor.campaigns.models import Campaign, Condition
from assignment.actions import create_manual_assign, usual_name
from assignment.label_kind import MANUAL


class AssignmentFields(ConditionFields):
    METHODS = {MANUAL: ("Assignment by people", "People say which nuggets an answer contains.")}
    NEEDS = {MANUAL: ("nuggets",)}

    nuggets = RecordField(
        Condition.objects.none(),
        label="Nuggets",
        required=False,
        help_text="Whoever made the nuggets of a topic assigns them.",
    )

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(campaign)
        self.fields["nuggets"].queryset = campaign.conditions.filter(kind__in=names_of_nuggets())  # type: ignore[attr-defined]

    def usual_name(self, method: str, filled_in: Mapping[str, Any]) -> str:
        nuggets = filled_in.get("nuggets")
        return usual_name(nuggets, "Manual") if nuggets else method

    def create(self, filled_in: Mapping[str, Any], *, acting_user: Person | None) -> Condition:
        return create_manual_assign(nuggets=filled_in["nuggets"], name=filled_in["name"], acting_user=acting_user)


class ControlForm(forms.Form):
    """Whose nuggets control runs are to say."""

    nuggets = RecordField(Condition.objects.none())
    anew = forms.BooleanField(required=False, label="Make new ones where nuggets changed")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        nuggets = campaign.conditions.filter(kind__in=names_of_nuggets())
        self.fields["nuggets"].queryset = nuggets  # type: ignore[attr-defined]
