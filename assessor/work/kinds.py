"""The kinds of task. Each app registers its own when it is ready, so that work need not know them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from assessor.collection.models import Condition, Topic
from assessor.work.models import Task


def _never(condition: Condition) -> bool:
    return False


class Kind(NamedTuple):
    """A kind of task.

    prepare makes what the person will work on, in the transaction that gives them the task, or raises PlanError; renew
    brings a task that they have or had up to date when they are given it again, and may open it, or raises PlanError;
    url is where to go on; shared says whether several people may have a topic under a condition at once; refusal says
    why topics can't be given to people under a condition, or None.
    """

    name: str
    items: str  # what is counted as done: "nuggets"
    prepare: Callable[[Task], None]
    url: Callable[[Task], str]
    related: str  # the record that url looks at, as Task's select_related names it
    shared: Callable[[Condition], bool] = _never
    renew: Callable[[Task], None] = lambda task: None
    refusal: Callable[[Condition, Sequence[Topic]], str | None] = lambda condition, topics: None


_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Make a kind known."""
    _kinds[kind.name] = kind


def kind_of(task: Task) -> Kind:
    """Return a task's kind. Raises KeyError for a kind that no app registered."""
    return _kinds[task.kind]


def related_records() -> list[str]:
    """Return what to select with tasks whose urls will be asked for."""
    return [kind.related for kind in _kinds.values()]


def is_shared(condition: Condition) -> bool:
    """Say whether several people may have a topic under a condition at once: they draw from one queue."""
    return _kinds[condition.kind].shared(condition)


def refusal(condition: Condition, topics: Sequence[Topic]) -> str | None:
    """Say why topics can't be given to people under a condition, or None. Its kind must be a registered one."""
    return _kinds[condition.kind].refusal(condition, topics)


def is_registered(name: str) -> bool:
    """Say whether people can be given tasks of this kind."""
    return name in _kinds
