"""Which runs were compared, and so shaped the questions that were made of it."""

from collections.abc import Mapping

from django.db.models import Q

from assessor.campaigns.condition_kind import APART
from assessor.campaigns.models import Condition, Run
from assessor.campaigns.models.runs import CONTROL
from assessor.preference.models import PreferencePair


def run_marks(condition: Condition) -> Mapping[str, str]:
    """Return APART of the systems' runs that scores by questions from preferences are about, and that were in none."""
    preferences = (condition.nuggets or condition).preferences_id
    if preferences is None:
        return {}
    pairs = PreferencePair.objects.filter(condition=preferences).order_by()
    compared = Q(pk__in=pairs.values("first__run")) | Q(pk__in=pairs.values("second__run"))
    others = Run.objects.filter(campaign=condition.campaign_id).exclude(compared | Q(task=CONTROL))
    return dict.fromkeys(others.values_list("tag", flat=True), APART)
