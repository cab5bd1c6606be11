"""The organizer's form of registered studies."""

from typing import Any

from django import forms

_TEXT = forms.Textarea(attrs={"rows": 4})
_LINES = forms.Textarea(attrs={"rows": 3})


def _lines(value: str) -> list[str]:
    return [line.strip() for line in value.splitlines() if line.strip()]


class RegistrationForm(forms.Form):
    """A study, before the first label of its conditions."""

    title = forms.CharField(max_length=200)
    hypotheses = forms.CharField(widget=_TEXT, help_text="One a line.")
    conditions = forms.CharField(
        widget=_LINES, help_text="Names, one a line. Conditions that do not exist yet get these names later."
    )
    measures = forms.CharField(widget=_LINES, help_text="One a line, with the statistic: V strict, τ of runs.")
    sample = forms.CharField(widget=_TEXT, help_text="Which topics and runs, and how they are drawn.")
    stopping_rule = forms.CharField(widget=_TEXT, label="Stopping rule", help_text="When labelling ends.")

    @property
    def fields_of_document(self) -> dict[str, Any]:
        """What was filled in, with lists of lines."""
        given = self.cleaned_data
        return given | {name: _lines(given[name]) for name in ("hypotheses", "conditions", "measures")}
