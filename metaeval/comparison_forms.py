"""The organizer's forms of comparisons."""

from operator import attrgetter
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from assessor.campaigns.forms import RecordField
from assessor.campaigns.http import NO_FILE
from assessor.campaigns.models import Campaign, Condition
from assessor.scores.leaderboards import POLICY_WORDS
from assessor.scores.score_source import scored_conditions
from assessor.work.allocation import LARGEST_SEED
from metaeval.actions import DRAWS, MOST_DRAWS
from metaeval.measures import kinds_with
from metaeval.models import Comparable
from metaeval.queries import comparables_of, side_key, side_label
from metaeval.stats.ceiling import MARGIN
from metaeval.stats.means import Policy
from metaeval.stats.measures import PRECISION
from metaeval.stats.score_matrix import CONTROL, POLICIES

_LINES = forms.Textarea(attrs={"rows": 2})
_MOST_BYTES = 64 * 1024 * 1024


class CompareForm(forms.Form):
    """A new comparison."""

    first = forms.ChoiceField(
        label="Reference side", help_text="What the other side is measured against: people's labels, as a rule."
    )
    second = forms.ChoiceField(label="Other side", help_text="A model's labels, other people's, or a score table.")
    first_support = RecordField(
        Condition.objects.none(),
        required=False,
        label="Support of the reference side",
        help_text="For F1, with its nuggets.",
    )
    second_support = RecordField(
        Condition.objects.none(),
        required=False,
        label="Support of the other side",
        help_text="For F1; may be the same.",
    )
    tasks = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Only runs of these tasks"
    )
    runs = forms.CharField(
        required=False, widget=_LINES, label="Only these runs", help_text="Run tags, one a line. Leave empty for all."
    )
    topics = forms.CharField(
        required=False,
        widget=_LINES,
        label="Only these topics",
        help_text="Topic ids, one a line. Leave empty for all.",
    )
    topics_of = RecordField(
        Condition.objects.none(), required=False, empty_label="any", label="Only topics that are judged under"
    )
    circular = forms.BooleanField(
        required=False,
        label="Circular runs too",
        help_text="Runs that were made from what scores them, or by who does. Tables and figures call each of them so.",
    )
    margin = forms.FloatField(
        min_value=0.001,
        max_value=0.999,
        initial=MARGIN,
        required=False,
        label="Margin of κ",
        help_text="By how much less a judge may agree with a person than a second person does. Fix it beforehand.",
    )
    policy = forms.ChoiceField(
        label="Answers not submitted", choices=[(one, POLICY_WORDS[one]) for one in POLICIES], initial=Policy.ZERO
    )
    draws = forms.IntegerField(
        min_value=1,
        max_value=MOST_DRAWS,
        initial=DRAWS,
        label="Draws",
        help_text="How often topics are drawn for intervals.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        required=False,
        help_text="Decides which topics are drawn. Leave empty for a new one, which is recorded.",
    )
    name = forms.CharField(max_length=200, required=False, help_text="Leave empty to have it named after both sides.")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sides = {side_key(one): one for one in comparables_of(campaign)}
        choices = [("", "Choose…"), *((key, side_label(one)) for key, one in self._sides.items())]
        tasks = campaign.runs.exclude(task__in=("", CONTROL)).order_by("task").values_list("task", flat=True).distinct()
        for name in ("first", "second"):
            self._choices(name, choices)
        self._choices("tasks", [(task, task) for task in tasks])
        conditions = scored_conditions(campaign).order_by("name")
        support = conditions.filter(kind__in=kinds_with(PRECISION))
        known = sorted((one for one in self._sides.values() if isinstance(one, Condition)), key=attrgetter("name"))
        for name, found in (("first_support", support), ("second_support", support), ("topics_of", conditions)):
            field: Any = self.fields[name]
            field.queryset = found
            # Else each of them asks for its conditions again.
            offered = [one for one in known if name == "topics_of" or one.kind in kinds_with(PRECISION)]
            field.choices = [("", field.empty_label), *((one.pk, str(one)) for one in offered)]

    def _choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def side(self, key: str) -> Comparable | None:
        """Return what a choice stands for; None for none of them."""
        return self._sides.get(key)

    @property
    def sides(self) -> list[forms.BoundField]:
        """The two fields that every comparison needs."""
        return [self["first"], self["second"]]

    @property
    def details(self) -> list[forms.BoundField]:
        """All others."""
        return [field for field in self if field.name not in ("first", "second")]

    @property
    def has_sides(self) -> bool:
        """Say whether there are two things to compare."""
        return len(self._sides) > 1

    def clean_first(self) -> Comparable:
        return self._sides[self.cleaned_data["first"]]

    def clean_second(self) -> Comparable:
        return self._sides[self.cleaned_data["second"]]

    def clean_runs(self) -> list[str]:
        return str(self.cleaned_data["runs"]).split()

    def clean_margin(self) -> float:
        return self.cleaned_data["margin"] or MARGIN

    def clean_topics(self) -> list[str]:
        return str(self.cleaned_data["topics"]).split()


class TableForm(forms.Form):
    """A score table to be kept."""

    file = forms.FileField(
        label="Score table",
        help_text="CSV, JSONL or a leaderboard (tot, ir_measures), plain or .gz.",
        error_messages={"required": NO_FILE},
    )
    name = forms.CharField(max_length=120, required=False, help_text="Leave empty for the file's name.")
    run = forms.CharField(
        max_length=256, required=False, label="Run", help_text="The run's tag, if the file names none."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # It stands on the page of CompareForm, which has a name too.
        super().__init__(*args, **(kwargs | {"auto_id": "table_%s"}))

    def clean_file(self) -> "UploadedFile[Any]":
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if file.size and file.size > _MOST_BYTES:
            raise forms.ValidationError(f"A score table has at most {_MOST_BYTES // 1024**2} MiB.")
        return file
