"""What organizers fill in to have passages graded."""

from collections.abc import Mapping
from typing import Any

from django import forms

from assessor.accounts.models import Person
from assessor.campaigns.forms import ConditionFields, GradesField
from assessor.campaigns.models import SCALES_HERE, Campaign, Condition, QrelsSource
from assessor.relevance.actions import create_relevance
from assessor.relevance.label_kind import FROM_SCRATCH, POST_EDITED

FROM_QUEUE = "drawn"


class RelevanceFields(ConditionFields):
    METHODS = {
        FROM_SCRATCH: ("Relevance from scratch", "People grade the passages of the pool."),
        POST_EDITED: ("Relevance post-edited", "People grade the pool with a model's grade beside the choices."),
    }
    NEEDS = {FROM_SCRATCH: ("max_grade", "given"), POST_EDITED: ("shown", "max_grade", "given")}
    OPTIONAL = ("max_grade",)
    SHOWN = ("shown", "max_grade")
    GIVEN = ("given",)

    shown = GradesField(
        label="Grades to post-edit",
        help_text="A passage can be graded once the model has graded it.",
    )
    max_grade = forms.TypedChoiceField(
        label="Scale",
        choices=SCALES_HERE,
        coerce=int,
        empty_value=None,
        required=False,
        help_text="People post-edit a model's grades on the model's scale.",
    )
    given = forms.ChoiceField(
        label="How passages are given",
        choices=[
            ("given", "a topic's passages to one person"),
            (FROM_QUEUE, "from a queue: several people have a topic, and each draws the next passage"),
        ],
        required=False,
    )

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(campaign)
        shown = campaign.qrels_sources.filter(by=QrelsSource.By.MODEL, max_grade__in=SCALES_HERE)
        self.fields["shown"].queryset = shown  # type: ignore[attr-defined]
        self.fields["max_grade"].initial = campaign.protocol.max_grade

    def create(self, filled_in: Mapping[str, Any], *, acting_user: Person | None) -> Condition:
        return create_relevance(
            campaign=self.campaign,
            name=filled_in["name"],
            shown=filled_in["shown"],
            from_queue=filled_in["given"] == FROM_QUEUE,
            max_grade=filled_in["max_grade"] or self.campaign.protocol.max_grade,
            acting_user=acting_user,
        )
