"""What organizers fill in to have reports written."""

from typing import Any

from django import forms

from assessor.campaigns.forms import RecordField
from assessor.campaigns.models import Campaign, Condition
from nuggets.reports.condition_kind import REPORTS
from nuggets.reports.models import Report

MOST = 20


class ReportForm(forms.Form):
    """From what reports are put together, and how."""

    reports = RecordField(Condition.objects.none(), label="Read under")
    text = forms.ChoiceField(choices=Report.Text, label="Sentences")
    per_question = forms.IntegerField(
        min_value=1,
        max_value=MOST,
        initial=1,
        label="Sentences of a question",
        help_text="1 for short reports, 5 for long ones.",
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        conditions = campaign.conditions.filter(kind=REPORTS.name)
        self.fields["reports"].queryset = conditions  # type: ignore[attr-defined]
