"""The organizer's form of trials."""

from typing import Any

from django import forms

from assessor.campaigns.forms import RecordField
from assessor.campaigns.models import Campaign
from assessor.llm.models import ModelJudge


class TrialForm(forms.Form):
    """Who is asked where people try nuggets, and how often at most."""

    judge = RecordField(ModelJudge.objects.none(), required=False, help_text="None: nobody can try nuggets.")
    most_calls = forms.IntegerField(
        min_value=1,
        max_value=1_000_000,
        initial=1_000,
        label="Budget of calls",
        help_text="Of all trials together. A trial takes a call for each answer to the topic.",
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["judge"].queryset = campaign.model_judges.select_related("judge")  # type: ignore[attr-defined]
