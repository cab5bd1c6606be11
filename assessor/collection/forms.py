"""Fields that forms of several apps have."""

from typing import Any

from django import forms

from assessor.collection.models import SCALES, QrelsSource


class GradesField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A source of grades, with its scale."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(QrelsSource.objects.none(), required=False, **kwargs)

    def label_from_instance(self, obj: QrelsSource) -> str:
        return f"{obj}, {SCALES[obj.max_grade]}"


def threshold_field() -> forms.IntegerField:
    """Return a field for the lowest grade that counts as relevant."""
    return forms.IntegerField(
        label="Relevant from grade",
        min_value=1,
        max_value=max(SCALES),
        required=False,
        help_text="On the scale of the qrels. Empty: as the protocol says.",
    )
