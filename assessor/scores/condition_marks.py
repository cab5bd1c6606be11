"""What upper layers have tables say beside a condition's name. An app names its function in its AppConfig."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from django.apps import apps
from django.utils.module_loading import import_string

from assessor.campaigns.models import Condition


def condition_marks(condition: Condition) -> list[str]:
    """Return the further marks of a condition."""
    return marks_by_condition([condition])[condition.pk]


def marks_by_condition(conditions: Sequence[Condition]) -> dict[int, list[str]]:
    """Return the further marks of a campaign's conditions, by key, in a few queries for all."""
    found = [marks_of(conditions) for marks_of in _sources()]
    return {one.pk: [marks[one.pk] for marks in found if one.pk in marks] for one in conditions}


@cache
def _sources() -> list[Callable[[Sequence[Condition]], Mapping[int, str]]]:
    named = (getattr(app, "condition_marks", None) for app in apps.get_app_configs())
    return [import_string(name) for name in named if name]
