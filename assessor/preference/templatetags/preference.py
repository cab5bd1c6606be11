"""How strengths are shown."""

import math

from django import template

register = template.Library()


@register.filter
def strength(value: float) -> str:
    """Return a strength with its sign; a dash where there is none."""
    return "\N{EM DASH}" if math.isnan(value) else f"{value:+.2f}"
