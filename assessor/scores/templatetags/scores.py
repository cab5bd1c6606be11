"""What pages of scores need."""

from typing import Any

from django import template

from assessor.campaigns.models import Condition
from assessor.scores.condition_marks import condition_marks

register = template.Library()


@register.inclusion_tag("scores/_marks.html")
def marks(condition: Condition) -> dict[str, Any]:
    """Show what readers of a condition's scores must know of it, as name_of() tells it in files."""
    return {"is_rehearsed": condition.is_rehearsed, "marks": condition_marks(condition)}
