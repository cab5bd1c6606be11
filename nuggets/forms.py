"""What organizers fill in to have nuggets written."""

from collections.abc import Mapping
from typing import Any

from assessor.accounts.models import Person
from assessor.campaigns.forms import ConditionFields, GradesField, threshold_field
from assessor.campaigns.models import Campaign, Condition, QrelsSource
from nuggets.actions import create_manual_nuggets
from nuggets.condition_kind import MANUAL, NUGGETS, Nuggets


class NuggetFields(ConditionFields):
    METHODS = {MANUAL: ("Nuggets by people", "People write nuggets from the passages that people found relevant.")}
    FIELDS = ("qrels_source", "min_relevant_grade")
    NEEDS = {MANUAL: FIELDS}
    kind: Nuggets = NUGGETS
    OPTIONAL = ("min_relevant_grade",)

    qrels_source = GradesField(
        label="Grades", help_text="Grades by people: assessors see the passages that these call relevant."
    )
    min_relevant_grade = threshold_field()

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(campaign)
        self.fields["qrels_source"].queryset = campaign.qrels_sources.filter(by=QrelsSource.By.PEOPLE)  # type: ignore[attr-defined]

    def usual_name(self, method: str, filled_in: Mapping[str, Any]) -> str:
        least = filled_in.get("min_relevant_grade")
        grades = Condition(protocol=self.campaign.protocol, min_relevant_grade=least)
        return f"{method}{grades.threshold_in_name}"

    def create(self, filled_in: Mapping[str, Any], *, acting_user: Person | None) -> Condition:
        return create_manual_nuggets(
            campaign=self.campaign,
            name=filled_in["name"],
            qrels_source=filled_in["qrels_source"],
            min_relevant_grade=filled_in["min_relevant_grade"],
            kind=self.kind,
            acting_user=acting_user,
        )
