"""What a comparison of scores comes to, as results have it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from assessor.collection.models import Condition
from assessor.collection.queries import without_practice
from assessor.work.models import TimeSpent
from metaeval import statistics_tables as tables
from metaeval.measures import LENGTH
from metaeval.serializers import number
from metaeval.stats.comparison import Compared
from metaeval.stats.descriptive import pareto_front
from metaeval.stats.means import COMPLETE, OVER, Policy, spread
from metaeval.stats.score_matrix import Pair, Scored
from metaeval.stats.topics_needed import topics_needed

Json = dict[str, Any]
_HOUR = 3600


def score_results(pair: Pair, compared: Sequence[Compared], *, seed: int, draws: int, hours: float | None) -> Json:
    """Return what is told of the scores of both sides. hours: of people's work for a topic."""
    first, second, _ = pair
    told: Json = {"scores": tables.as_data(pair, compared)}
    del told["scores"]["left_out"]  # it is told with what the restriction leaves out
    told["spread"] = [_spread(side) for side in (first, second)] if first.topics else []
    told["front"] = [_front(pair, compared, at) for at in range(2)] if LENGTH in first.measures else []
    if first.topics:
        steps = topics_needed(first.cells[..., 0], second.cells[..., 0], seed=seed, draws=draws)
        told["topics_needed"] = [{"topics": step.topics, **step.tau._asdict()} for step in steps]
        told["hours_per_topic"] = hours
    return told


def _spread(side: Scored) -> Json:
    """Return the least, median and largest score over runs, each a mean over topics, by measure."""
    over = spread(side.cells, np.full(side.cells.shape[:2], COMPLETE), Policy.ANSWERED)
    return {
        name: dict(zip(side.measures, map(number, figures), strict=True))
        for name, figures in zip(OVER, over.tolist(), strict=True)
    }


def _front(pair: Pair, compared: Sequence[Compared], side: int) -> list[str]:
    """Return the runs than which none is both shorter and better by the first measure."""
    lengths, scores = compared[pair.first.measures.index(LENGTH)], compared[0]
    places = pareto_front((lengths.first, lengths.second)[side], (scores.first, scores.second)[side])
    return [pair.first.runs[at] for at in places]


def hours_per_topic(conditions: Sequence[Condition]) -> float | None:
    """Return the hours that people needed for a topic, as their browsers measured them; None where nothing was.

    Of the side that took longer, the time for its nuggets included.
    """
    found = []
    for condition in conditions:
        per_topic = 0.0
        for one in (condition, condition.nuggets):
            times = without_practice(TimeSpent.objects.filter(task__condition=one), by="task__topic")
            seconds = list(times.values_list("task__topic", "seconds")) if one else []
            if seconds:
                per_topic += sum(spent for _, spent in seconds) / len({topic for topic, _ in seconds})
        found.append(per_topic / _HOUR)
    return max(found, default=0.0) or None
