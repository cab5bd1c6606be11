"""The form in which an organizer chooses what of something to export."""

from typing import Any

from django import forms

from assessor.campaigns.models import Campaign
from assessor.exportables import ChoiceError, Exportable
from assessor.exports.selection import choose
from assessor.scores.leaderboards import POLICY_WORDS


class _Words(forms.CharField):
    """Ids or tags, separated by blanks or line ends."""

    widget = forms.Textarea(attrs={"rows": 3, "cols": 40, "spellcheck": "false"})

    def clean(self, value: Any) -> list[str]:
        return str(super().clean(value)).split()


class ExportForm(forms.Form):
    """What of a kind is exported: its record, the form of the file, topics and runs."""

    of = forms.ChoiceField(label="Of")
    form = forms.ChoiceField(label="Form")
    topics = _Words(
        required=False,
        label="Topics",
        help_text="Topic ids, separated by spaces or line breaks. Leave empty for all.",
    )
    runs = _Words(
        required=False, label="Runs", help_text="Run tags, separated by spaces or line breaks. Leave empty for all."
    )
    at = forms.CharField(
        required=False, label="At", help_text="The end of a day (2026-01-31) or a moment in UTC (2026-01-31T12:00)."
    )
    policy = forms.ChoiceField(required=False, label="Answers not submitted", choices=[*POLICY_WORDS.items()])
    allow_incomplete = forms.BooleanField(
        required=False,
        label="Also if answers lack labels",
        help_text="Means are then over complete answers only, and the file says so.",
    )

    def __init__(self, campaign: Campaign, kind: Exportable, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._campaign, self._kind = campaign, kind
        there_are = kind.forms
        if not kind.has_policy:
            del self.fields["policy"], self.fields["allow_incomplete"]
        if kind.subject:
            records, field = kind.subject.records(campaign), kind.subject.field
            names = list(records.values_list(field, flat=True))
            self.fields["of"] = forms.ChoiceField(label=kind.subject.what.capitalize(), choices=[(n, n) for n in names])
            of = self["of"].value()
            if names and (kind.made or kind.choices):
                record = records.get(**{field: of if of in names else names[0]})
                there_are = kind.forms_of(record)
                for name, known in kind.choices.items():
                    self.fields[name] = forms.ChoiceField(required=False, choices=[*known(record).items()])
        else:
            del self.fields["of"]
        self.fields["form"] = forms.ChoiceField(
            label="Form",
            choices=[(name, form.label) for name, form in there_are.items()],
            error_messages={"invalid_choice": "There is no %(value)s of this one. Choose one of the list."},
        )
        for name in {"topics", "runs"} - set(kind.filters):
            del self.fields[name]
        if not kind.has_moment:
            del self.fields["at"]
        for name in kind.asks:  # on the page that asks it
            self.fields[name] = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                choose(self._campaign, self._kind, cleaned)
            except ChoiceError as error:
                raise forms.ValidationError(str(error)) from error
        return cleaned
