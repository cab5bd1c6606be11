"""The organizer's forms for the plan."""

from typing import Any

from django import forms

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import condition_kinds, names_of_answers, names_of_nuggets
from assessor.campaigns.models import Campaign, Condition, Run, Topic
from assessor.plan.actions import Piece, Wanted
from assessor.plan.models import WHOEVER_DRAWS
from assessor.work.allocation import LARGEST_SEED
from assessor.work.judging_pool import folded
from assessor.work.models import MAX_REASON
from assessor.work.queries import assessors
from assessor.work.task_changes import judges_runs

WHOEVER = "whoever"


def peoples_conditions(campaign: Campaign) -> Any:
    """Return the conditions under which people work here."""
    by_people = [method for kind in condition_kinds() for method in kind.peoples_methods]
    return campaign.conditions.filter(method__in=[*by_people, Condition.ADJUDICATED]).select_related(
        "campaign", "nuggets", "shown", "protocol"
    )


class _WithPerson(forms.Form):
    """Who is to have it, and why."""

    person = forms.ChoiceField(label="Assessor")
    reason = forms.CharField(
        max_length=MAX_REASON,
        required=False,
        label="Reason, if it is another's work",
        help_text="Who made a topic's nuggets assigns them; to give them to somebody else, say why.",
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        self.people = {str(person.pk): person for person in assessors(campaign)}
        to_whom = [("", "---------"), (WHOEVER, WHOEVER_DRAWS), *self.people.items()]
        self.fields["person"].choices = to_whom  # type: ignore[attr-defined]

    def clean_person(self) -> Person | None:
        """Return who is chosen; None for whoever draws the topics."""
        return self.people.get(self.cleaned_data["person"])


class _RuleField(forms.CharField):
    """A rule of runs as it is kept; "" where none is said."""

    def __init__(self) -> None:
        help_text = "all, none, priority<=2 or 1 per team."
        super().__init__(max_length=20, required=False, label="Runs to judge", help_text=help_text)

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        try:
            return folded(text) if text else ""
        except ValueError as error:
            raise forms.ValidationError(f"This is no rule of runs; {error}.") from error


class _SomeRecords(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Records by their keys. Django asks the database for any number, and SQLite takes none of more than 64 bits."""

    def clean(self, value: Any) -> Any:
        for key in value or ():
            if not (str(key).isascii() and str(key).isdigit() and len(str(key)) < 19):
                raise forms.ValidationError(self.error_messages["invalid_pk_value"], params={"pk": key})
        return super().clean(value)


class PlanForm(_WithPerson):
    """Topics under a condition, for a person or for whoever draws them."""

    topics = _SomeRecords(Topic.objects.none(), error_messages={"required": "Choose topics first."})
    condition = forms.ModelChoiceField(Condition.objects.none())
    rule = _RuleField()

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(campaign, *args, **kwargs)
        self.fields["topics"].queryset = campaign.topics.all()  # type: ignore[attr-defined]
        self.fields["condition"].queryset = peoples_conditions(campaign)  # type: ignore[attr-defined]


class PieceForm(_WithPerson):
    """What a piece of work is to be."""

    condition = forms.ModelChoiceField(Condition.objects.none())
    rule = _RuleField()
    paused = forms.BooleanField(required=False, label="Paused")
    seen = forms.CharField(widget=forms.HiddenInput)
    field_order = ("condition", "person", "rule", "paused", "reason", "seen")

    def __init__(self, piece: Piece, *args: Any, **kwargs: Any) -> None:
        campaign = piece.condition.campaign
        now = {
            "condition": piece.condition.pk,
            "person": piece.person.pk if piece.person else WHOEVER,
            "rule": piece.rule,
            "paused": piece.paused,
            "seen": piece.seen,
        }
        super().__init__(campaign, *args, initial=now, **kwargs)
        same = peoples_conditions(campaign).filter(kind=piece.condition.kind)
        self.fields["condition"].queryset = same  # type: ignore[attr-defined]
        if piece.person and str(piece.person.pk) not in self.people:  # is no assessor any more, say
            self.people[str(piece.person.pk)] = piece.person
            choices = [*self.fields["person"].choices, (piece.person.pk, str(piece.person))]  # type: ignore[attr-defined]
            self.fields["person"].choices = choices  # type: ignore[attr-defined]
        if not judges_runs(piece.condition):
            del self.fields["rule"]
        if piece.task is None:
            del self.fields["paused"]
        self.fields["reason"].label = "Reason"
        self.fields["reason"].help_text = "Kept in the history."

    @property
    def wanted(self) -> Wanted:
        """What was filled in."""
        told = self.cleaned_data
        return Wanted(told["condition"], told["person"], told.get("rule", ""), bool(told.get("paused")), told["reason"])


class DropForm(forms.Form):
    """A run that leaves a condition or comes back to it."""

    condition = forms.ModelChoiceField(Condition.objects.none())
    run = forms.ModelChoiceField(Run.objects.none(), to_field_name="tag")
    reason = forms.CharField(max_length=MAX_REASON)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = campaign.conditions.filter(kind__in=names_of_answers()).select_related("campaign")
        self.fields["condition"].queryset = known  # type: ignore[attr-defined]
        runs = Run.objects.filter(campaign=campaign).exclude(task="control").order_by("tag")
        self.fields["run"].queryset = runs  # type: ignore[attr-defined]


class AllocateForm(forms.Form):
    """How many of the topics of which nothing is planned go to which condition, and among whom they are drawn."""

    people = _SomeRecords(Person.objects.none(), label="Assessors", widget=forms.CheckboxSelectMultiple)
    support = forms.ModelChoiceField(
        Condition.objects.none(), required=False, help_text="On the same topics, by the same person."
    )
    rule = _RuleField()
    second = forms.ModelChoiceField(
        Condition.objects.none(), required=False, label="Second opinion", help_text="By another person than the first."
    )
    overlap = forms.IntegerField(
        min_value=0, max_value=10_000, required=False, label="On how many topics", help_text="Drawn by the seed."
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        required=False,
        help_text="Left empty, a new one. The same seed draws the same from the same topics and people.",
    )

    def __init__(self, campaign: Campaign, seconds: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = peoples_conditions(campaign)
        self.nuggets = {f"topics{one.pk}": one for one in known.filter(kind__in=names_of_nuggets()).order_by("name")}
        for name, condition in self.nuggets.items():
            self.fields[name] = forms.IntegerField(
                min_value=0, max_value=10_000, required=False, label=f"Topics under {condition}"
            )
        self.order_fields([*self.nuggets, *AllocateForm.base_fields])
        self.fields["people"].queryset = assessors(campaign)  # type: ignore[attr-defined]
        alone = [kind.name for kind in condition_kinds() if kind.judges_answers and not kind.needs_nuggets]
        judging = known.filter(kind__in=alone, sample="").exclude(pk__in=seconds.values("pk"))
        self.fields["support"].queryset = judging  # type: ignore[attr-defined]
        self.fields["second"].queryset = seconds  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        cleaned["shares"] = [(one, cleaned[name]) for name, one in self.nuggets.items() if cleaned.get(name)]
        if not self.errors and not cleaned["shares"]:
            raise forms.ValidationError("Say how many topics are to be done under at least one condition.")
        if cleaned.get("overlap") and not cleaned.get("second"):
            self.add_error("second", "Say under which condition the second person labels.")
        return cleaned
