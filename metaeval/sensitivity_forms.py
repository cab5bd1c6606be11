"""The organizer's forms of sensitivity studies."""

from typing import Any

from django import forms

from assessor.campaigns.models import Campaign, Condition
from assessor.labels.label_kind import label_kind
from assessor.llm.models import LEAST_MONEY
from assessor.llm.prompt_sets import names as prompt_set_names
from assessor.studies.sensitivity import BATCH, JUDGE, MOST_LEVELS, ORDER, ORDER_WORDS, PROMPT_SET, REPLICATE
from assessor.studies.sensitivity_actions import RUNS, TOPICS, variant_kinds
from assessor.work.allocation import LARGEST_SEED


class SensitivityForm(forms.Form):
    """A new study: the base, and what is varied."""

    name = forms.CharField(max_length=60)
    nuggets = forms.ModelChoiceField(Condition.objects.none(), empty_label=None)
    judge = forms.ChoiceField(label="Judge of the base")
    prompt_set = forms.ChoiceField(label="Prompt set of the base")
    other_judges = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="Another model, or the same model at another temperature: that is another judge.",
    )
    other_prompt_sets = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, required=False)
    batches = forms.CharField(max_length=40, label="Nuggets a call", help_text="That of the base first: 10 1 5.")
    orders = forms.MultipleChoiceField(
        choices=[(name, words) for name, words in ORDER_WORDS.items() if name != "bank"],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        label="Other orders of nuggets",
    )
    repetitions = forms.IntegerField(
        min_value=1,
        max_value=MOST_LEVELS,
        initial=2,
        help_text="So often equal requests are sent: how often their labels differ is the floor of all comparisons.",
    )
    topics = forms.IntegerField(min_value=1, max_value=1_000, initial=TOPICS)
    runs = forms.IntegerField(min_value=2, max_value=1_000, initial=RUNS)
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        required=False,
        help_text="Decides what is drawn. Leave empty for a new one, which is recorded.",
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = variant_kinds()
        nuggets = self.fields["nuggets"]
        assert isinstance(nuggets, forms.ModelChoiceField)
        nuggets.queryset = campaign.conditions.filter(kind__in=label_kind(kinds[0]).builds_on).order_by("name")
        judges = list(campaign.model_judges.order_by("judge__name").values_list("judge__name", flat=True))
        sets = prompt_set_names(campaign)
        for name, there in (("judge", judges), ("prompt_set", sets)):
            for field in (name, f"other_{name}s"):
                self.fields[field].choices = [(one, one) for one in there]  # type: ignore[attr-defined]
            if len(there) < 2:
                del self.fields[f"other_{name}s"]
        setting = label_kind(kinds[0]).batch_setting
        self.initial.setdefault("batches", str(getattr(campaign.protocol, setting)))
        self.can_be_made = bool(judges) and nuggets.queryset.exists()

    def clean_batches(self) -> list[int]:
        """Return the numbers of nuggets in a call, the base's first."""
        given = self.cleaned_data["batches"].replace(",", " ").split()
        if not given or not all(one.isascii() and one.isdigit() for one in given):
            raise forms.ValidationError("Numbers, separated by blanks: 10 1 5.")
        return [int(one) for one in given]

    @property
    def design(self) -> dict[str, Any]:
        """The arguments of draw_sensitivity()."""
        given = self.cleaned_data
        judges, sets = (
            [given[name], *(one for one in given.get(f"other_{name}s", ()) if one != given[name])]
            for name in (JUDGE, PROMPT_SET)
        )
        factors = {
            JUDGE: judges,
            PROMPT_SET: sets,
            BATCH: given["batches"],
            ORDER: ["bank", *given["orders"]],
            REPLICATE: list(range(given["repetitions"])),
        }
        names = ("name", "nuggets", "topics", "runs", "seed")
        return {"factors": factors, **{name: given[name] for name in names}}


class VariantsForm(forms.Form):
    """What each job of a study may cost."""

    most_cost = forms.DecimalField(min_value=LEAST_MONEY, max_digits=14, decimal_places=6, required=False, label="USD")
    most_calls = forms.IntegerField(min_value=1, required=False, label="calls")
