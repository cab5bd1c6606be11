"""What organizers fill in to have nuggets assigned, and control runs made."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms

from assessor.accounts.models import Person
from assessor.campaigns.forms import ConditionFields, RecordField
from assessor.campaigns.http import NO_FILE
from assessor.campaigns.models import Campaign, Condition
from assessor.labels.shown_labels import with_a_models_labels
from assignment.actions import create_manual_assign, usual_name
from assignment.label_kind import ASSIGNMENT, MANUAL, Assignment


class LabellingFields(ConditionFields):
    """Of a kind in which people label the nuggets of another condition, which is chosen in the one field.

    In those of SHOWN it is a model's condition, whose labels they see and which names the nuggets.
    """

    kind: ClassVar[Assignment]

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(campaign)
        [self._nuggets] = self.fields.keys() - {*self.SHOWN}
        banks = campaign.conditions.filter(kind__in=self.kind.builds_on)
        self.fields[self._nuggets].queryset = banks  # type: ignore[attr-defined]
        for name in self.SHOWN:
            self.fields[name].queryset = with_a_models_labels(self.kind, campaign)  # type: ignore[attr-defined]

    def usual_name(self, method: str, filled_in: Mapping[str, Any]) -> str:
        nuggets, shown = self._nuggets_of(filled_in), self._shown(filled_in)
        if nuggets is None:
            return method
        name = usual_name(nuggets, "Post-edited" if shown else "Manual")
        return f"{name}, passages" if (shown.of_passages if shown else self.of_passages(method)) else name

    def create(self, filled_in: Mapping[str, Any], *, acting_user: Person | None) -> Condition:
        nuggets, name = self._nuggets_of(filled_in), filled_in["name"]
        assert nuggets is not None, "it is asked, by itself or as that of labels"
        return create_manual_assign(
            nuggets=nuggets,
            name=name,
            acting_user=acting_user,
            kind=self.kind,
            shown=self._shown(filled_in),
            of_passages=self.of_passages(filled_in["method"]),
        )

    def of_passages(self, method: str) -> bool:
        """Say whether passages are labelled, and not answers."""
        return False

    def _nuggets_of(self, filled_in: Mapping[str, Any]) -> Condition | None:
        shown = self._shown(filled_in)
        return shown.nuggets if shown else filled_in.get(self._nuggets)

    def _shown(self, filled_in: Mapping[str, Any]) -> Condition | None:
        return next((filled_in[name] for name in self.SHOWN if filled_in.get(name)), None)


class AssignmentFields(LabellingFields):
    kind = ASSIGNMENT
    METHODS = {MANUAL: ("Assignment by people", "People say which nuggets an answer contains.")}
    NEEDS = {MANUAL: ("nuggets",)}

    nuggets = RecordField(
        Condition.objects.none(),
        label="Nuggets",
        required=False,
        help_text="Whoever made the nuggets of a topic assigns them.",
    )


class ControlForm(forms.Form):
    """Whose nuggets control runs are to say."""

    nuggets = RecordField(Condition.objects.none())
    canaries = forms.BooleanField(required=False, label="Add canaries, which try to mislead a judge")
    anew = forms.BooleanField(required=False, label="Make new ones where nuggets changed")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        nuggets = campaign.conditions.filter(kind__in=ASSIGNMENT.builds_on)
        self.fields["nuggets"].queryset = nuggets  # type: ignore[attr-defined]


class FormerEditionForm(forms.Form):
    """What a former edition's runs got."""

    condition = forms.ModelChoiceField(Condition.objects.none(), label="This edition's labels", empty_label=None)
    upload = forms.FileField(label="The former edition's assignments (JSONL)", error_messages={"required": NO_FILE})

    def __init__(self, conditions: Sequence[Condition], *args: Any) -> None:
        super().__init__(*args)
        self.fields["condition"].queryset = Condition.objects.filter(  # type: ignore[attr-defined]
            pk__in=[one.pk for one in conditions]
        )
