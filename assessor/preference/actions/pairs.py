"""New pairs, as rows: a track's condition has a hundred thousand of them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice

from django.db.models import Max

from assessor.campaigns.models import Condition, Topic
from assessor.preference.models import PreferencePair
from assessor.preference.queries import NewPair, new_pairs
from assessor.runtime.sql import insert
from assessor.work.models import Task

_AT_A_TIME = 1_000
_PAIR = (
    "condition",
    "topic",
    "first",
    "second",
    "position",
    "second_stood_first",
    "by_rule",
    "version",
    "value",
    "state",
    "task",
)


def add_pairs(condition: Condition, topics: Sequence[Topic]) -> int:
    """Write some of the pairs of topics that a condition lacks, in the order in which they are asked; return how many.

    What follows from a rule is said of them at once.
    """
    return write_pairs(condition, topics, islice(new_pairs(condition, topics), _AT_A_TIME))


def write_pairs(
    condition: Condition, topics: Sequence[Topic], pairs: Iterable[NewPair], task: Task | None = None
) -> int:
    """Write new pairs in this order, behind those that there are; return how many.

    task: of whoever compares those that follow from no rule.
    """
    own = PreferencePair.everything.filter(condition=condition, topic__in=topics)
    last = own.order_by().values_list("topic").annotate(Max("position"))
    position: dict[int, int] = defaultdict(int, {topic: place + 1 for topic, place in last})
    rows = []
    for new in pairs:
        is_open = new.value is None
        state = PreferencePair.State.OPEN if is_open else PreferencePair.State.GIVEN
        place = (new.topic, new.first, new.second, position[new.topic], new.second_stood_first)
        owner = task.pk if task and is_open else None
        rows.append((condition.pk, *place, not is_open, 0, new.value, state.value, owner))
        position[new.topic] += 1
    insert(PreferencePair, _PAIR, rows)
    return len(rows)
