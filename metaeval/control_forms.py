"""The organizer's forms of control sets."""

from typing import Any

from django import forms

from assessor.campaigns.forms import RecordField
from assessor.campaigns.models import Campaign, Condition
from assessor.studies.control_sets import CELLS, SETTINGS, controllable
from assessor.studies.models import ControlSet
from assessor.work.allocation import LARGEST_SEED

_MOST_CELLS = 1_000


class ControlForm(forms.ModelForm):  # type: ignore[type-arg]
    """When a control set is asked, what that may cost, and what an alarm does."""

    class Meta:
        model = ControlSet
        fields = SETTINGS
        labels = {"every_days": "Ask again after days", "most_calls": "calls", "most_cost": "USD"}

    def asked(self) -> list[forms.BoundField]:
        """Return all fields but the budget."""
        return [field for field in self.visible_fields() if field not in self.budget()]

    def budget(self) -> list[forms.BoundField]:
        """Return the fields that say where its jobs stop."""
        return [self["most_cost"], self["most_calls"]]

    def settings(self) -> dict[str, Any]:
        """Return the settings, cleaned."""
        return {name: self.cleaned_data[name] for name in SETTINGS}


class NewControlForm(ControlForm):
    """A new control set."""

    condition = RecordField(
        Condition.objects.none(), label="Labels of", help_text="Labels that a judge gave here, to be asked for again."
    )
    name = forms.CharField(max_length=100)
    cells = forms.IntegerField(
        min_value=1,
        max_value=_MOST_CELLS,
        initial=CELLS,
        label="Size",
        help_text="Answers, each with all its nuggets. Where a call is about one citation: citations.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        required=False,
        help_text="Decides what is drawn. Leave empty for a new one, which is recorded.",
    )
    field_order = ("condition", "name", "cells", "seed")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.setdefault("every_days", 7)
        found = controllable(campaign)
        offered = campaign.conditions.filter(pk__in=[one.pk for one in found]).order_by("name")
        self.fields["condition"].queryset = offered  # type: ignore[attr-defined]
        self.can_be_made = bool(found)
