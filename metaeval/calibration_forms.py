"""The organizer's forms of calibrations."""

from typing import Any

from django import forms

from assessor.campaigns.models import Campaign
from metaeval.calibrations import gate_of, human_sides, judged_conditions, refusal
from metaeval.models import CalibrationGate, HumanSide
from metaeval.queries import side_key, side_label


class CalibrateForm(forms.Form):
    """A new calibration."""

    human = forms.TypedChoiceField(label="People's labels", help_text="Given unaided, without a model's in view.")
    judged = forms.TypedChoiceField(label="Model's labels", help_text="Of the same things.")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._by_key: dict[str, HumanSide] = {}
        for name, found in (("human", human_sides(campaign)), ("judged", judged_conditions(campaign))):
            of_field = {side_key(one): one for one in found}
            self._by_key |= of_field
            field = self.fields[name]
            assert isinstance(field, forms.TypedChoiceField)
            field.choices = [("", "Choose…"), *((key, side_label(one)) for key, one in of_field.items())]
            field.coerce = self._by_key.__getitem__

    @property
    def can_be_made(self) -> bool:
        """Say whether there are labels of people and of a model."""
        return all(len(self[name].field.choices) > 1 for name in ("human", "judged"))  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        filled_in: dict[str, Any] = super().clean() or {}
        if {"human", "judged"} <= filled_in.keys() and (why := refusal(filled_in["human"], filled_in["judged"])):
            raise forms.ValidationError(why)
        return filled_in


class GateForm(forms.ModelForm):  # type: ignore[type-arg]
    """The least that a calibration must reach."""

    class Meta:
        model = CalibrationGate
        fields = ("least_kappa", "least_labels", "least_topics")
        labels = {  # Django reads it so
            "least_kappa": "Least κ",
            "least_labels": "Least number of labels",
            "least_topics": "Least number of topics",
        }

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        gate = gate_of(campaign)
        of_gate = {name: getattr(gate, name) for name in self._meta.fields or ()} if gate else {}
        # What is saved is another record: the old ones tell what held when.
        super().__init__(data, instance=CalibrationGate(campaign=campaign), initial=of_gate)
