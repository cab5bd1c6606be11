"""The organizer's form of hybrid scores."""

from decimal import Decimal
from typing import Any

from django import forms

from assessor.campaigns.forms import RecordField
from assessor.campaigns.models import Campaign, Condition
from assessor.scores.leaderboards import POLICY_WORDS
from assessor.scores.score_source import scored_conditions
from assessor.work.models import Draw
from metaeval.stats.hybrid import PRIOR_SD, Target
from metaeval.stats.score_matrix import POLICIES

TARGETS = {
    Target.CAMPAIGN: "this campaign's topics",
    Target.POPULATION: "topics like these, of which they are a sample",
}
_LEVELS = (90, 95, 99)


class DrawField(RecordField):
    """A draw of topics, with the condition that it is of."""

    def label_from_instance(self, obj: Draw) -> str:
        return f"{obj.condition}: {obj}"


class HybridForm(forms.Form):
    """New hybrid scores."""

    human = RecordField(Condition.objects.none(), label="People's labels", help_text="Of some of the topics.")
    model = RecordField(Condition.objects.none(), label="A model's labels", help_text="Of all topics.")
    draw = DrawField(
        Draw.objects.none(),
        required=False,
        label="Topics drawn for people",
        empty_label="not drawn at random",
        help_text="Intervals hold for topics that were drawn: other labels of people are left out.",
    )
    target = forms.ChoiceField(label="Scores over", choices=list(TARGETS.items()))
    confidence = forms.TypedChoiceField(
        label="Intervals", choices=[(one, f"{one} %") for one in _LEVELS], initial=95, coerce=int
    )
    prior_sd = forms.DecimalField(
        label="Spread of biases expected",
        min_value=Decimal("0.0001"),
        max_value=1,
        max_digits=5,
        decimal_places=4,
        initial=PRIOR_SD,
        help_text="How far a model favours some runs more than others, as a standard deviation: "
        "decides how closely the order follows the model's.",
    )
    policy = forms.ChoiceField(label="Answers not submitted", choices=[(one, POLICY_WORDS[one]) for one in POLICIES])
    name = forms.CharField(max_length=200, required=False, help_text="Leave empty to have it named after both.")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        conditions = [one for one in scored_conditions(campaign).order_by("name") if not one.of_passages]
        chosen = {
            "human": [one.pk for one in conditions if one.is_peoples],
            "model": [one.pk for one in conditions if one.is_a_models],
        }
        for name, keys in chosen.items():
            field = self.fields[name]
            assert isinstance(field, RecordField)
            field.queryset = Condition.objects.filter(pk__in=keys).order_by("name")
        self.can_be_made = all(chosen.values())
        draws = self.fields["draw"]
        assert isinstance(draws, RecordField)
        draws.queryset = Draw.objects.filter(condition__in=chosen["human"]).select_related("condition").order_by("-pk")

    @property
    def sides(self) -> list[forms.BoundField]:
        """What all hybrid scores need."""
        return [self["human"], self["model"], self["draw"], self["target"]]

    @property
    def details(self) -> list[forms.BoundField]:
        """All others."""
        return [field for field in self if field.name in ("confidence", "prior_sd", "policy", "name")]
