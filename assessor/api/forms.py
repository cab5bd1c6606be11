"""The form of a new token."""

from datetime import datetime, timedelta

from django import forms
from django.utils import timezone

from assessor.api.models import Token

LONGEST = 3650  # days


class TokenForm(forms.Form):
    name = forms.CharField(max_length=120, help_text="What it is for, such as the notebook that reads with it.")
    may = forms.ChoiceField(label="It may", choices=Token.May.choices, initial=Token.May.READ)
    days = forms.IntegerField(
        label="Days that it is good for",
        required=False,
        min_value=1,
        max_value=LONGEST,
        initial=90,
        help_text="Empty: until it is revoked.",
    )

    @property
    def expires_at(self) -> datetime | None:
        """When the token ends, of a valid form."""
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None
