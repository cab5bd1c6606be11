"""What organizers fill in to have support judged."""

from collections.abc import Mapping
from typing import Any

from assessor.accounts.models import Person
from assessor.campaigns.forms import ConditionFields, RecordField
from assessor.campaigns.models import Campaign, Condition
from assessor.labels.shown_labels import with_a_models_labels
from support.actions import create_support
from support.label_kind import FROM_SCRATCH, POST_EDITED, SUPPORT


class SupportFields(ConditionFields):
    METHODS = {
        FROM_SCRATCH: ("Support from scratch", "People judge citations without seeing a model's label."),
        POST_EDITED: ("Support post-edited", "People judge citations with a model's label beside the choices."),
    }
    NEEDS = {POST_EDITED: ("shown_labels",)}
    SHOWN = ("shown_labels",)

    shown_labels = RecordField(
        Condition.objects.none(),
        label="Labels to post-edit",
        required=False,
        help_text="A citation can be judged once the model has labelled it.",
    )

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(campaign)
        self.fields["shown_labels"].queryset = with_a_models_labels(SUPPORT, campaign)  # type: ignore[attr-defined]

    def create(self, filled_in: Mapping[str, Any], *, acting_user: Person | None) -> Condition:
        return create_support(
            campaign=self.campaign,
            name=filled_in["name"],
            shown=filled_in["shown_labels"],
            acting_user=acting_user,
        )
