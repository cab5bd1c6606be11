"""Fields that forms of several apps have, and the part that a kind has in the form of new conditions."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet

from assessor.accounts.models import Person
from assessor.campaigns.models import SCALES, Campaign, Condition, QrelsSource


class ConditionFields(forms.Form):
    """What the form of new conditions asks where they are of one kind, and how one is made of the answers.

    Its fields become fields of that form, so no other kind may have fields of these names, but for one whose
    part extends this one.
    """

    METHODS: ClassVar[Mapping[str, tuple[str, str]]]  # each as a card has it: a title, and what people do in a sentence
    NEEDS: ClassVar[Mapping[str, Sequence[str]]] = {}  # the fields that are asked for a method
    OPTIONAL: ClassVar[Sequence[str]] = ()  # those of them that may be left empty
    # Fields come in three groups: what a condition builds on, then what people are shown, then how work is given.
    SHOWN: ClassVar[Sequence[str]] = ()
    GIVEN: ClassVar[Sequence[str]] = ()

    def __init__(self, campaign: Campaign) -> None:
        super().__init__()
        self.campaign = campaign

    def usual_name(self, method: str, filled_in: Mapping[str, Any]) -> str:
        """Return the name of a condition for which none was given."""
        return method

    def create(self, filled_in: Mapping[str, Any], *, acting_user: Person | None) -> Condition:
        """Make a condition of what was filled in, with "method" and "name". Raises ConditionError."""
        raise NotImplementedError


class RecordField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A choice of a record, whose first option says in words that nothing is chosen."""

    def __init__(self, queryset: QuerySet[Any], *, required: bool = True, **kwargs: Any) -> None:
        kwargs.setdefault("empty_label", "Choose…" if required else "none")
        super().__init__(queryset, required=required, **kwargs)


class RecordsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Records by their keys. Django asks the database for any number, and SQLite takes none of more than 64 bits."""

    def clean(self, value: Any) -> Any:
        for key in value or ():
            if not (str(key).isascii() and str(key).isdigit() and len(str(key)) < 19):
                raise forms.ValidationError(self.error_messages["invalid_pk_value"], params={"pk": key})
        return super().clean(value)


class GradesField(RecordField):
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
        help_text="Leave empty to use the protocol's.",
    )
