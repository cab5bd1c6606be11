"""The figures of hybrid scores."""

from typing import TYPE_CHECKING

from metaeval.hybrids import Result, hybrid_result, known_measure
from metaeval.kept_results import KeptFigure, keep_figures, kept_result
from metaeval.measures import measure_labels
from metaeval.models import Hybrid
from metaeval.score_report import hours_per_topic

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure


def hours_of(hybrid: Hybrid) -> float | None:
    """Return the hours that people needed for a topic; None where nothing was measured."""
    return hours_per_topic([hybrid.human])


def drawn_result(hybrid: Hybrid, measure: str, hours: float | None) -> tuple[Result, list[KeptFigure]]:
    """Return the scores by a measure, as hybrid_result() does, with their figures, kept as long."""

    def compute() -> tuple[Result, list[KeptFigure]]:
        result = hybrid_result(hybrid, measure)
        return result, keep_figures(hybrid_figures(result, hours))

    name = f"hybrid.{hybrid.pk}.{known_measure(hybrid, measure)}.drawn.{hours or 0:.4f}"
    return kept_result([hybrid.human, hybrid.model], name, compute)


def hybrid_figures(result: Result, hours: float | None) -> "list[NamedFigure]":
    """Return the figures of hybrid scores: intervals of runs, residuals by topic, and what more topics would give."""
    from metaeval.charts.figures import NamedFigure
    from metaeval.charts.hybrid import interval_figure, more_topics_figure, residual_figure

    sides, order = result.sides, result.order
    title = measure_labels([result.measure.key])[result.measure.key]
    at = sides.measures.index(result.measure.key)
    scores = result.scores
    return [
        NamedFigure(
            "intervals",
            "Scores of runs with intervals",
            interval_figure(
                [sides.runs[one] for one in order],
                *(figures[order] for figures in (scores.mean, scores.low, scores.high, result.model)),
                title=title,
                confidence=result.settings.confidence,
            ),
        ),
        NamedFigure(
            "residuals",
            "People's scores less the model's, by topic",
            residual_figure(sides.runs, sides.topics, sides.human[..., at] - sides.model[..., at], title=title),
        ),
        NamedFigure(
            "more", "What more topics would give", more_topics_figure(result.curve, pairs=result.pairs, hours=hours)
        ),
    ]
