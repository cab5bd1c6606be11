"""How strengths are shown, and preferences in terms of what is shown."""

import math

from django import template

from assessor.preference.models import PreferencePair
from assessor.preference.screen import MEANINGS
from assessor.preference.verdicts import of_answers, verdicts

register = template.Library()


@register.filter
def strength(value: float) -> str:
    """Return a strength with its sign; a dash where there is none."""
    return "\N{EM DASH}" if math.isnan(value) else f"{value:+.2f}"


@register.filter
def meaning(pair: PreferencePair, label: str) -> str:
    """Return in words what a label in terms of a pair says of the answers as they are shown."""
    return MEANINGS[of_answers(label, second_stood_first=pair.second_stood_first)]


@register.filter
def choices(pair: PreferencePair) -> list[tuple[str, str]]:
    """Return the labels, in terms of a pair, that can be given to it, with what they say of the answers as shown."""
    shown = verdicts(ties=pair.condition.protocol.preference_ties)
    return [(of_answers(one, second_stood_first=pair.second_stood_first), MEANINGS[one]) for one in shown]
