"""What pages compute of conditions' scores, kept in this process until the scores change."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from assessor.campaigns.models import Condition
from assessor.scores.cache import kept_in_state, states_of
from assessor.scores.leaderboards import names_by_condition

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

Result = TypeVar("Result")


class KeptFigure(NamedTuple):
    """A figure with what draws it, which takes no more to keep than its text."""

    name: str
    title: str
    specification: dict[str, Any]


def keep_figures(figures: "Sequence[NamedFigure]") -> list[KeptFigure]:
    """Return figures as they are kept."""
    return [KeptFigure(one.name, one.title, one.specification) for one in figures]


def kept_result(conditions: Sequence[Condition], name: str, compute: Callable[[], Result]) -> Result:
    """Return what was computed of conditions, computed anew when anything that their scores depend on has changed.

    The conditions are of one campaign. name: what is computed, with everything else that it depends on, such as policy,
    measure and seed; in ASCII without blanks. Only the newest one of a name is kept.
    """
    # What results call conditions can change alone.
    states, names = states_of(conditions), names_by_condition(conditions)
    return kept_in_states({one.pk: (names[one.pk], states[one.pk]) for one in conditions}, name, compute)


def kept_in_states(states: Mapping[int, tuple[Any, ...]], name: str, compute: Callable[[], Result]) -> Result:
    """Return the same of records of one kind, whose states, by key in the order of the records, were asked for."""
    return kept_in_state(f"result.{'.'.join(map(str, states))}.{name}", tuple(states.values()), compute)
