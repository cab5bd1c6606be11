"""What organizers fill in to have reports written."""

from collections.abc import Mapping
from typing import Any

from django import forms

from assessor.accounts.models import Person
from assessor.campaigns.forms import ConditionFields, RecordField
from assessor.campaigns.models import Campaign, Condition
from nuggets.reports.actions import create_edited_reports
from nuggets.reports.condition_kind import EDITS, REPORT, REPORTS
from nuggets.reports.models import Report

MOST = 20
BY_RULE = [(one.value, one.label) for one in Report.Text if one != Report.Text.EDITED]
_NAME = 120  # characters of a condition's


class ReportFields(ConditionFields):
    """What people edit: what a model found under another condition."""

    METHODS = {EDITS: ("Reports by people", "People put reports together from sentences that a model found, and sign.")}
    NEEDS = {EDITS: ("drafts",)}

    drafts = RecordField(
        Condition.objects.none(),
        label="Found by a model under",
        required=False,
        help_text="The job Report reads documents for the questions of a bank.",
    )

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(campaign)
        drafts = campaign.conditions.filter(method=REPORT)
        self.fields["drafts"].queryset = drafts  # type: ignore[attr-defined]

    def usual_name(self, method: str, filled_in: Mapping[str, Any]) -> str:
        drafts = filled_in.get("drafts")
        return f"{drafts}+Edits"[:_NAME] if drafts else method

    def create(self, filled_in: Mapping[str, Any], *, acting_user: Person | None) -> Condition:
        return create_edited_reports(drafts=filled_in["drafts"], name=filled_in["name"], acting_user=acting_user)


class ReportForm(forms.Form):
    """From what reports are put together, and how."""

    reports = RecordField(Condition.objects.none(), label="Read or signed under")
    text = forms.ChoiceField(choices=BY_RULE, label="Sentences", help_text="Signed reports are taken as they are.")
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
