"""The organizer's forms of matched banks."""

import re
from typing import Any

from django import forms

from assessor.campaigns.forms import RecordField
from assessor.campaigns.models import Campaign, Condition
from nuggets.matching.condition_kind import MATCHING
from nuggets.matching.queries import Pairs, TopicBanks

_LONGEST = 400  # characters of the numbers behind a nugget
_NUMBERS = re.compile(r"[\s,;]+")


class NewMatchingForm(forms.Form):
    """Two conditions whose nuggets organizers will match."""

    nuggets = RecordField(
        Condition.objects.none(), label="First bank", help_text="The reference: recall is of its nuggets."
    )
    other_nuggets = RecordField(Condition.objects.none(), label="Second bank", help_text="Precision is of its nuggets.")
    name = forms.CharField(max_length=120, required=False, help_text="Leave empty to have it named for you.")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        banks = campaign.conditions.filter(kind__in=MATCHING.builds_on).order_by("kind", "name")
        self.can_be_made = banks.count() > 1
        for name in ("nuggets", "other_nuggets"):
            self.fields[name].queryset = banks  # type: ignore[attr-defined]


class MatchForm(forms.Form):
    """For each nugget of the first bank the numbers of those of the second that say the same."""

    known = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(self, banks: TopicBanks, pairs: Pairs, known: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._banks = banks
        self.initial["known"] = known
        for at in range(len(banks.first.nuggets)):
            numbers = sorted(other + 1 for one, other in pairs if one == at)
            self.fields[f"n{at}"] = forms.CharField(
                max_length=_LONGEST,
                required=False,
                label=f"Nugget {at + 1}",
                initial=" ".join(map(str, numbers)),
                widget=forms.TextInput(attrs={"size": 8, "inputmode": "numeric", "autocomplete": "off"}),
            )

    def clean(self) -> dict[str, Any]:
        """Add the pairs of places, from 0, as "pairs"."""
        cleaned = super().clean() or {}
        most, pairs = len(self._banks.second.nuggets), set()
        for at in range(len(self._banks.first.nuggets)):
            for word in filter(None, _NUMBERS.split(cleaned.get(f"n{at}", ""))):
                if re.fullmatch("[0-9]{1,6}", word) and 1 <= int(word) <= most:
                    pairs.add((at, int(word) - 1))
                else:
                    self.add_error(
                        f"n{at}", f"{word[:20]} is no nugget of the second bank: write numbers from 1 to {most}."
                    )
                    break
        cleaned["pairs"] = pairs
        return cleaned

    @property
    def in_order(self) -> list[forms.BoundField]:
        """The fields of the nuggets."""
        return [self[f"n{at}"] for at in range(len(self._banks.first.nuggets))]
