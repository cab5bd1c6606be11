"""What organizers fill in to have answers compared."""

from collections.abc import Mapping
from typing import Any

from assessor.accounts.models import Person
from assessor.campaigns.forms import ConditionFields
from assessor.campaigns.models import Condition
from assessor.preference.actions import create_preference
from assessor.preference.label_kind import MANUAL


class PreferenceFields(ConditionFields):
    METHODS = {MANUAL: ("Preferences by people", "People say which of two answers to a topic is better.")}

    def usual_name(self, method: str, filled_in: Mapping[str, Any]) -> str:
        return "Preferences by people"

    def create(self, filled_in: Mapping[str, Any], *, acting_user: Person | None) -> Condition:
        return create_preference(campaign=self.campaign, name=filled_in["name"], acting_user=acting_user)
