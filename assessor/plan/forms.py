"""The organizer's forms for the plan."""

from collections.abc import Mapping
from typing import Any

from django import forms

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import condition_kinds, names_of_nuggets
from assessor.campaigns.forms import RecordField, RecordsField
from assessor.campaigns.models import Campaign, Condition, Role, Run, Topic
from assessor.plan.actions import Piece, Wanted
from assessor.plan.next_edition import MOST_ASSESSORS, MOST_RUNS, MOST_TOPICS, Basis, Choices
from assessor.work.allocation import LARGEST_SEED, new_seed
from assessor.work.judging_pool import folded
from assessor.work.models import MAX_REASON
from assessor.work.queries import assessors

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
        label="Reason for giving it to somebody else",
        help_text="Needed where somebody else made the topic's nuggets. Kept in the history.",
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        self.people = {str(person.pk): person for person in assessors(campaign)}
        to_whom = [("", "Choose…"), *self.people.items(), (WHOEVER, "A queue: whoever is free takes the next topic")]
        self.fields["person"].choices = to_whom  # type: ignore[attr-defined]
        if invited := campaign.invitations.filter(role=Role.ASSESSOR).select_related("person"):
            named = ", ".join(sorted(str(one.person) for one in invited))
            self.fields["person"].help_text = f"Not to choose from until they accept their invitation: {named}."

    def clean_person(self) -> Person | None:
        """Return who is chosen; None for whoever draws the topics."""
        return self.people.get(self.cleaned_data["person"])


OWN = "own"
RULES = (
    ("", "No change; all runs on new topics"),
    ("all", "All runs"),
    ("priority<=1", "Top priority"),
    ("priority<=2", "Top 2 priorities"),
    ("1 per team", "One a team"),
    ("none", "None"),
    (OWN, "Own rule…"),
)


class _RuleField(forms.CharField):
    """A rule of runs as it is kept, from a menu; "" where none is said, OWN where it is written out beside."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=20, required=False, **{"label": "Runs to judge", **kwargs})

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        try:
            return text if text in ("", OWN) else folded(text)
        except ValueError as error:
            raise forms.ValidationError(f"This is no rule of runs; {error}.") from error


class _WithRule(forms.Form):
    """Which runs are judged: chosen from a menu, or an own rule."""

    rule = _RuleField(widget=forms.Select(choices=RULES))
    own_rule = _RuleField(label="Own rule of runs", help_text="Such as priority<=3 or 2 per team.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        now = self.initial.get("rule", "")
        if now not in dict(RULES):
            self.fields["rule"].widget.choices = [(now, now), *RULES]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("rule") == OWN:
            cleaned["rule"] = cleaned.get("own_rule", "")
            if not cleaned["rule"] and "own_rule" not in self.errors:
                self.add_error("own_rule", "Write the rule, or choose another one.")
        return cleaned


class GiveForm(_WithPerson, _WithRule):
    """Topics under some conditions, for a person or for whoever draws them.

    Conditions are given in the order in which they were made: one whose nuggets are assigned is older than that in
    which they are.
    """

    topics = RecordsField(Topic.objects.none(), error_messages={"required": "Select topics first."})
    condition = RecordsField(
        Condition.objects.none(),
        label="Work",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose the work."},
    )
    field_order = ("person", "rule", "own_rule", "reason")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(campaign, *args, **kwargs)
        self.fields["topics"].queryset = campaign.topics.all()  # type: ignore[attr-defined]
        self.fields["condition"].queryset = peoples_conditions(campaign).order_by("pk")  # type: ignore[attr-defined]

    def name_hours(self, to_come: Mapping[str, str]) -> None:
        """Have the menu of people say what each has to come, by name."""
        nothing = "nothing"
        people = [(key, f"{one}: {to_come.get(one.username, nothing)} to come") for key, one in self.people.items()]
        first, *_, queue = self.fields["person"].choices  # type: ignore[attr-defined]
        self.fields["person"].choices = [first, *people, queue]  # type: ignore[attr-defined]

    def one(self, name: str, value: Any) -> Any:
        """Return what a field makes of a value; None where it is none."""
        try:
            return self.fields[name].clean(value)
        except forms.ValidationError:
            return None


class PieceForm(_WithPerson, _WithRule):
    """What a piece of work is to be."""

    condition = RecordField(Condition.objects.none())
    paused = forms.BooleanField(required=False, label="Paused")
    seen = forms.CharField(widget=forms.HiddenInput)
    field_order = ("condition", "person", "rule", "own_rule", "paused", "reason", "seen")

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
        if not piece.condition.judges_answers:
            del self.fields["rule"], self.fields["own_rule"]
        if piece.task is None:
            del self.fields["paused"]
        self.fields["reason"].label = "Reason"

    @property
    def wanted(self) -> Wanted:
        """What was filled in."""
        told = self.cleaned_data
        return Wanted(told["condition"], told["person"], told.get("rule", ""), bool(told.get("paused")), told["reason"])


class DropForm(forms.Form):
    """A run that leaves a condition or comes back to it."""

    condition = RecordField(Condition.objects.none())
    run = RecordField(Run.objects.none(), to_field_name="tag")
    reason = forms.CharField(max_length=MAX_REASON)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = [kind.name for kind in condition_kinds() if kind.can_drop_runs]
        known = campaign.conditions.filter(kind__in=kinds).select_related("campaign")
        self.fields["condition"].queryset = known  # type: ignore[attr-defined]
        runs = Run.objects.filter(campaign=campaign).exclude(task="control").order_by("tag")
        self.fields["run"].queryset = runs  # type: ignore[attr-defined]


class DrawForm(forms.Form):
    """Topics drawn at random for a condition. drawn: how many were with this seed when the page was shown."""

    condition = RecordField(Condition.objects.none(), help_text="Under which people judge the topics.")
    number = forms.IntegerField(
        min_value=1, max_value=10_000, label="Topics to draw", help_text="Of all topics that runs answered."
    )
    seed = forms.IntegerField(min_value=0, max_value=LARGEST_SEED, help_text="The same seed draws the same topics.")
    in_queue = forms.BooleanField(required=False, label="Put them in the queue of the condition")
    drawn = forms.IntegerField(min_value=0, max_value=10_000, initial=0, widget=forms.HiddenInput)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["seed"].initial = new_seed
        judging = [kind.name for kind in condition_kinds() if kind.judges_answers]
        known = peoples_conditions(campaign).filter(kind__in=judging, sample="")
        keys = [one.pk for one in known if one.judges_answers]
        self.fields["condition"].queryset = known.filter(pk__in=keys).order_by("name")  # type: ignore[attr-defined]


class AllocateForm(_WithRule):
    """How many of the topics on which nothing is planned go to which condition, and among whom they are drawn."""

    people = RecordsField(Person.objects.none(), label="Assessors", widget=forms.CheckboxSelectMultiple)
    support = RecordField(Condition.objects.none(), required=False, help_text="On the same topics, by the same person.")
    second = RecordField(
        Condition.objects.none(), required=False, label="Second opinion", help_text="By a second person, blind."
    )
    overlap = forms.IntegerField(
        min_value=0,
        max_value=10_000,
        required=False,
        label="Topics with a second opinion",
        help_text="Drawn at random.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        required=False,
        help_text="Leave empty for a new one. The same seed draws the same topics again.",
    )

    def __init__(self, campaign: Campaign, seconds: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = peoples_conditions(campaign)
        self.nuggets = {f"topics{one.pk}": one for one in known.filter(kind__in=names_of_nuggets()).order_by("name")}
        for name, condition in self.nuggets.items():
            self.fields[name] = forms.IntegerField(
                min_value=0, max_value=10_000, required=False, label=f"Topics under {condition}"
            )
        self.order_fields([*self.nuggets, "people", "support", "rule", "own_rule", "second", "overlap", "seed"])
        self.fields["people"].queryset = assessors(campaign)  # type: ignore[attr-defined]
        alone = [kind.name for kind in condition_kinds() if kind.judges_answers and not kind.needs_nuggets]
        judging = known.filter(kind__in=alone, sample="").exclude(pk__in=seconds.values("pk"))
        self.fields["support"].queryset = judging  # type: ignore[attr-defined]
        self.fields["second"].queryset = seconds  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        cleaned["shares"] = [(one, cleaned[name]) for name, one in self.nuggets.items() if cleaned.get(name)]
        if not self.errors and not cleaned["shares"]:
            raise forms.ValidationError("Enter a number of topics for at least one condition.")
        if cleaned.get("overlap") and not cleaned.get("second"):
            self.add_error("second", "Choose the condition of the second opinion.")
        return cleaned


class NextEditionForm(forms.Form):
    """What the next edition is to be like; what isn't asked is as today, and empty hours and costs are as measured."""

    next_topics = forms.IntegerField(label="Topics", min_value=2, max_value=MOST_TOPICS)
    next_runs = forms.IntegerField(label="Runs", min_value=2, max_value=MOST_RUNS)
    second = forms.IntegerField(label="Topics with second opinions", min_value=0, max_value=100)
    assessors = forms.IntegerField(min_value=2, max_value=MOST_ASSESSORS)
    hours = forms.FloatField(required=False, min_value=0.0, max_value=1_000.0)
    cost = forms.FloatField(required=False, min_value=0.0, max_value=1e6)

    def __init__(self, found: Basis, asked: Mapping[str, str]) -> None:
        """Asked: by name; second opinions only count where found tells what assessors differ by."""
        self._today = today = Choices(found.components.topics, found.components.runs)
        usual = {"next_topics": today.topics, "next_runs": today.runs, "second": 0, "assessors": today.assessors}
        no_names = set() if found.of_assessors else {"second", "assessors"}
        super().__init__(
            usual | {name: asked[name] for name in self.base_fields if name in asked and name not in no_names}
        )

    @property
    def choices(self) -> Choices:
        """What is asked; of a form that is wrong, what is today."""
        if not self.is_valid():
            return self._today
        data = self.cleaned_data
        at_least = data["next_topics"], data["next_runs"], data["second"] / 100
        return Choices(*at_least, data["assessors"], data["hours"], data["cost"])
