"""The kinds of task. Each app registers its own when it is ready, so that work need not know them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from assessor.collection.models import Condition, Topic
from assessor.work.models import Task
from assessor.work.scope import Moved

# The kinds of work on a topic, as one follows the other.
IN_ORDER: list[str] = [
    Condition.Kind.RELEVANCE,
    Condition.Kind.NUGGETS,
    Condition.Kind.ASSIGNMENT,
    Condition.Kind.SUPPORT,
]


class Lacking(NamedTuple):
    """Topics, by key, that can't be given to people yet, and what says why, of one topic's qid or of several."""

    topics: set[int]
    why: Callable[[str], str]


def _never(condition: Condition) -> bool:
    return False


class Kind(NamedTuple):
    """A kind of task.

    prepare makes what the person will work on, in the transaction that gives them the task, or raises PlanError; renew
    brings a task that they have or had up to date when they are given it again, and may open it, or raises PlanError;
    url is where to go on; shared says whether several people may have a topic under a condition at once; refusal says
    why nobody can be given anything under a condition, or None; lacking tells which topics can't be given there yet,
    in as many queries for all of them as for one. Where answers of runs are judged, sheets is where it
    stands what is said of them, and follow_scope marks those on a topic by work.scope.
    """

    name: str
    items: str  # what is counted as done: "nuggets"
    prepare: Callable[[Task], None]
    url: Callable[[Task], str]
    related: str  # the record that url looks at, as Task's select_related names it
    shared: Callable[[Condition], bool] = _never
    renew: Callable[[Task], None] = lambda task: None
    refusal: Callable[[Condition], str | None] = lambda condition: None
    lacking: Callable[[Condition, Sequence[Topic]], Lacking] = lambda condition, topics: Lacking(set(), str)
    sheets: Any = None
    follow_scope: Callable[[Condition, Topic], Moved] = lambda condition, topic: Moved(0, 0)


_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Make a kind known."""
    _kinds[kind.name] = kind


def kind_of(task: Task) -> Kind:
    """Return a task's kind. Raises KeyError for a kind that no app registered."""
    return _kinds[task.kind]


def kind_named(name: str) -> Kind:
    """Return the kind of tasks under conditions of such a kind. Raises KeyError for one that no app registered."""
    return _kinds[name]


def related_records() -> list[str]:
    """Return what to select with tasks whose urls will be asked for."""
    return [kind.related for kind in _kinds.values()]


def is_shared(condition: Condition) -> bool:
    """Say whether several people may have a topic under a condition at once: they draw from one queue."""
    return _kinds[condition.kind].shared(condition)


def refusal(condition: Condition, topics: Sequence[Topic]) -> str | None:
    """Say why topics can't be given to people under a condition, or None. Its kind must be a registered one."""
    kind = _kinds[condition.kind]
    if refused := kind.refusal(condition):
        return refused
    lacking = kind.lacking(condition, topics) if topics else Lacking(set(), str)
    qids = sorted(topic.qid for topic in topics if topic.pk in lacking.topics)
    return lacking.why(", ".join(qids)) if qids else None


def refusals(condition: Condition, topics: Sequence[Topic]) -> dict[int, str]:
    """Say of each topic, by key, why it can't be given to people under a condition; those that can be are left out.

    It takes as many queries for all of them as for one. Its kind must be a registered one.
    """
    kind = _kinds[condition.kind]
    if refused := kind.refusal(condition):
        return dict.fromkeys((topic.pk for topic in topics), refused)
    lacking = kind.lacking(condition, topics)
    return {topic.pk: lacking.why(topic.qid) for topic in topics if topic.pk in lacking.topics}


def is_registered(name: str) -> bool:
    """Say whether people can be given tasks of this kind."""
    return name in _kinds


def of_answers() -> list[str]:
    """Return the kinds in which answers of runs are judged."""
    return [kind.name for kind in _kinds.values() if kind.sheets]


def items_of(name: str) -> str:
    """Return what is counted as done in work of a kind: "nuggets". Raises KeyError for one that is not registered."""
    return _kinds[name].items
