"""What is said of a file that is to be imported."""

from typing import Any

from django import forms

from assessor.campaigns.models import Import, QrelsSource
from assessor.imports.loaders import LOADERS, Loader

_LONGEST_NAME = 120


def kind_choices() -> list[tuple[str, str]]:
    return [(kind, loader.label) for kind, loader in LOADERS.items()]


class FileForm(forms.Form):
    """What one file holds, and what its kind needs to know: Loader.asks names the fields."""

    kind = forms.ChoiceField(label="Holds", choices=lambda: [("", "Choose a kind…"), *kind_choices()])
    condition = forms.CharField(
        label="Name of the condition",
        max_length=_LONGEST_NAME,
        required=False,
        help_text="A new one is made, or the file is added to the imported one of this name.",
    )
    nuggets = forms.CharField(
        label="Condition of their nuggets",
        max_length=_LONGEST_NAME,
        required=False,
        help_text="Empty: new nuggets are taken from the file.",
    )
    source = forms.CharField(
        label="Source of the grades",
        max_length=_LONGEST_NAME,
        required=False,
        help_text="NIST, UMBRELA with its model, or another.",
    )
    by = forms.ChoiceField(label="Made by", choices=[("", "Choose…"), *QrelsSource.By.choices], required=False)
    maker = forms.CharField(
        label="Model that made the drafts",
        max_length=_LONGEST_NAME,
        required=False,
        help_text="And how it was asked. People who edit the drafts don't see it.",
    )
    edition = forms.CharField(
        label="Former edition",
        max_length=_LONGEST_NAME,
        required=False,
        help_text="Such as TREC RAG 2024.",
    )
    edition_date = forms.CharField(
        label="Made in",
        max_length=10,
        required=False,
        help_text="A year, month or day: 2024, 2024-08 or 2024-08-31.",
    )
    invalid_labels = forms.ChoiceField(
        label="Invalid values",
        choices=[("", "are errors"), *Import.InvalidLabels.choices],
        required=False,
    )
    document_texts = forms.BooleanField(
        label="Keep the texts of documents as the run's own",
        required=False,
        help_text="Its citations are judged by these texts. By default they become passages of the campaign.",
    )

    @property
    def loader(self) -> type[Loader]:
        """The loader of the chosen kind; of no kind, one that asks nothing."""
        return LOADERS.get(str(self["kind"].value() or ""), Loader)

    @property
    def asked(self) -> list[forms.BoundField]:
        """The fields that the chosen kind can need."""
        return [self[name] for name in self.loader.asks]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        loader = LOADERS.get(cleaned.get("kind", ""), Loader)
        cleaned["options"] = loader.read_form(dict(cleaned), self.add_error)
        invalid = cleaned.get("invalid_labels", "")
        if invalid == Import.InvalidLabels.NOT_SUPPORT and not loader.takes_invalid_labels:
            which = " and ".join(one.label.lower() for one in LOADERS.values() if one.takes_invalid_labels)
            self.add_error("invalid_labels", f"Only labels of {which} can count as {invalid}: choose another value.")
        if cleaned["options"] and invalid:
            cleaned["options"]["invalid_labels"] = invalid
        return cleaned
