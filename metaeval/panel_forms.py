"""The organizer's forms of panels."""

from typing import Any

from django import forms

from assessor.campaigns.forms import RecordsField
from assessor.campaigns.models import Campaign, Condition
from assessor.labels.label_kind import label_kind
from assessor.scores.cache import with_answers
from assessor.scores.score_source import scored_conditions
from assessor.studies.actions import MOST_MEMBERS, panel_kinds
from assessor.studies.panels import RULE_WORDS
from assessor.work.allocation import LARGEST_SEED
from metaeval.panels import TIES_WORDS
from metaeval.stats.panels import Rule, Ties

_RULES = {
    Rule.MAJORITY: "the label that most members gave",
    Rule.MEDIAN: "the middle label",
    Rule.UNANIMOUS: "the label that all gave; where they differ, people decide",
    Rule.DAWID_SKENE: "Dawid-Skene: the most probable label, if members err independently",
    Rule.MEAN: "no label: the mean of the members' scores",
}
assert set(_RULES) == set(RULE_WORDS)


class MembersField(RecordsField):
    """Conditions, each with what it labels."""

    def label_from_instance(self, obj: Condition) -> str:
        of = f" of {obj.nuggets}" if obj.nuggets else ""
        return f"{obj} ({label_kind(obj.kind).title}{of}{', passages' if obj.of_passages else ''})"


class PanelForm(forms.Form):
    """A new panel."""

    members = MembersField(
        Condition.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text=f"2 to {MOST_MEMBERS} conditions of models that label the same.",
    )
    rule = forms.TypedChoiceField(label="The panel's label", choices=list(_RULES.items()), coerce=Rule)
    ties = forms.TypedChoiceField(
        label="Where several labels could be it",
        choices=[(one, words) for one, words in TIES_WORDS.items()],
        coerce=Ties,
        required=False,
        empty_value=Ties.STRICTER,
        help_text="Of the majority and the middle label.",
    )
    quorum = forms.IntegerField(
        required=False,
        min_value=2,
        max_value=MOST_MEMBERS,
        label="Members who must have labelled an item",
        help_text="Leave empty for all. With fewer, the answer is incomplete.",
    )
    name = forms.CharField(max_length=120, required=False, help_text="Leave empty to have it named for you.")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        there = scored_conditions(campaign).filter(kind__in=panel_kinds()).exclude(method=Condition.PANEL)
        conditions = [one for one in there if one.is_a_models]
        known = with_answers(conditions)
        chosen = Condition.objects.filter(pk__in=[one.pk for one in conditions if one.pk in known])
        members = self.fields["members"]
        assert isinstance(members, MembersField)
        members.queryset = chosen.select_related("nuggets").order_by("kind", "nuggets__name", "name")
        self.can_be_made = len(known) > 1

    def clean_members(self) -> list[Condition]:
        """Return the members by name, as panels have them in order."""
        return sorted(self.cleaned_data["members"], key=lambda one: one.name.encode())

    @property
    def others(self) -> list[forms.BoundField]:
        """All fields but the members."""
        return [field for field in self if field.name != "members"]


class RoutingForm(forms.Form):
    """What a panel leaves open, for people."""

    name = forms.CharField(max_length=100, label="Name of the sample")
    per_topic = forms.IntegerField(
        min_value=1, required=False, label="Items a topic", help_text="Leave empty for all that are open."
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        required=False,
        help_text="Decides what is drawn. Leave empty for a new one, which is recorded.",
    )
