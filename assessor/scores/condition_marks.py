"""What upper layers have tables say beside a condition's name. An app names its function in its AppConfig."""

from collections.abc import Callable
from functools import cache

from django.apps import apps
from django.utils.module_loading import import_string

from assessor.campaigns.models import Condition


def condition_marks(condition: Condition) -> list[str]:
    """Return the further marks of a condition."""
    return [mark for mark_of in _sources() if (mark := mark_of(condition))]


@cache
def _sources() -> list[Callable[[Condition], str]]:
    named = (getattr(app, "condition_mark", None) for app in apps.get_app_configs())
    return [import_string(name) for name in named if name]
