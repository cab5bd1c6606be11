"""The report of scores, as results have it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db.models import Count, Sum

from assessor.campaigns.models import Condition
from assessor.campaigns.queries import without_practice
from assessor.work.models import TimeSpent
from metaeval import statistics_tables
from metaeval.serializers import number
from metaeval.stats.comparison import MeasureComparison
from metaeval.stats.descriptive import pareto_front
from metaeval.stats.means import COMPLETE, OVER, Policy, spread
from metaeval.stats.measures import LENGTH
from metaeval.stats.score_matrix import MatchedScores, ScoreMatrix
from metaeval.stats.topics_needed import topics_needed

Json = dict[str, Any]
_HOUR = 3600


def report_scores(
    scores: MatchedScores,
    comparisons: Sequence[MeasureComparison],
    *,
    seed: int,
    draws: int,
    hours: float | None,
) -> Json:
    """Return the report of the scores of both inputs. hours: of people's work for a topic."""
    reference, candidate, _ = scores
    report: Json = {"scores": statistics_tables.as_json(scores, comparisons)}
    del report["scores"]["left_out"]  # it comes with what the restriction leaves out
    report["spread"] = [_spread(matrix) for matrix in (reference, candidate)] if reference.topics else []
    report["front"] = [_front(scores, comparisons, at) for at in range(2)] if LENGTH in reference.measures else []
    if reference.topics:
        curve = topics_needed(reference.cells[..., 0], candidate.cells[..., 0], seed=seed, draws=draws)
        report["topics_needed"] = [{"topics": point.topics, **point.tau._asdict()} for point in curve]
        report["hours_per_topic"] = hours
    return report


def _spread(matrix: ScoreMatrix) -> Json:
    """Return the least, median and largest score over runs, each a mean over topics, by measure."""
    over = spread(matrix.cells, np.full(matrix.cells.shape[:2], COMPLETE), Policy.ANSWERED)
    return {
        name: dict(zip(matrix.measures, map(number, figures), strict=True))
        for name, figures in zip(OVER, over.tolist(), strict=True)
    }


def _front(scores: MatchedScores, comparisons: Sequence[MeasureComparison], place: int) -> list[str]:
    """Return the runs on the Pareto front of length and the first measure. place: 0 reference, 1 candidate."""
    lengths, first = comparisons[scores.reference.measures.index(LENGTH)], comparisons[0]
    front = pareto_front((lengths.reference, lengths.candidate)[place], (first.reference, first.candidate)[place])
    return [scores.reference.runs[at] for at in front]


def hours_per_topic(conditions: Sequence[Condition]) -> float | None:
    """Return the hours that people needed for a topic, as their browsers measured them; None where nothing was.

    Of the input that took longer, the time for its nuggets included.
    """
    both = [[one for one in (condition, condition.nuggets) if one] for condition in conditions]
    return max((sum(map(measured_hours, parts)) for parts in both), default=0.0) or None


def measured_hours(condition: Condition) -> float:
    """Return the hours that people needed for a topic under a condition alone; 0 where nothing was measured."""
    times = without_practice(TimeSpent.objects.filter(task__condition=condition), by="task__topic")
    told = times.aggregate(seconds=Sum("seconds"), topics=Count("task__topic", distinct=True))
    return float((told["seconds"] or 0) / max(told["topics"], 1) / _HOUR)
