"""The figures of a comparison of scores, and of the scores of one side."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from metaeval.charts import figures
from metaeval.charts.figures import NamedFigure
from metaeval.charts.rendering import TOP, name_of_measure
from metaeval.stats.comparison import MeasureComparison
from metaeval.stats.measures import LENGTH, PRECISION, RECALL
from metaeval.stats.score_matrix import MatchedScores, ScoreMatrix
from metaeval.stats.topics_needed import topics_needed


def comparison_figures(
    scores: MatchedScores,
    comparisons: Sequence[MeasureComparison],
    labels: Mapping[str, str],
    *,
    seed: int,
    draws: int,
    hours: float | None = None,
) -> Iterator[NamedFigure]:
    """Yield the figures of a comparison: of each measure but length, then those of length and of support.

    labels: of the measures, by key. hours: of work for a topic, which gives a second axis. seed, draws: of the subsets
    of topics.
    """
    if not comparisons:
        return  # they have no measure in common
    reference, candidate, _ = scores
    runs = figures.Runs(reference.runs, reference.tasks)
    is_support = {PRECISION, RECALL} <= set(reference.measures)
    for at, one in enumerate(comparisons):
        if one.measure == LENGTH:
            continue
        label = labels[one.measure]
        name = f"{at + 1}-{name_of_measure(one.measure)}"
        x, y = reference.cells[..., at], candidate.cells[..., at]
        yield NamedFigure(
            f"scatter-{name}",
            f"{label} of runs on both sides",
            figures.score_scatter(
                runs,
                one.reference,
                one.candidate,
                one.levels,
                titles=(f"{label}, {reference.name}", f"{label}, {candidate.name}"),
                cells=figures.Cells(reference.topics, x, y) if reference.topics else None,
                shows_topics=is_support,
            ),
        )
        if one.top:
            names = (f"best by {reference.name}", f"best by {candidate.name}")
            at_the_top = figures.top_figure(one.top.taus, names=names, title=f"τ of the best runs, {label}")
            yield NamedFigure(f"{TOP}{name}", f"Agreement on the best runs, {label}", at_the_top)
        if reference.topics:
            title = f"τ of runs, {label}"
            by_topic = figures.topic_tau_figure(reference.topics, one.levels.by_topic, title=title)
            yield NamedFigure(f"topics-{name}", f"Agreement of rankings by topic, {label}", by_topic)
            curve = topics_needed(x, y, seed=seed, draws=draws)
            needed = figures.topics_needed_figure(curve, title=title, hours=hours)
            yield NamedFigure(f"needed-{name}", f"How many topics are enough, {label}", needed)
    for place, matrix, means in (
        ("first", reference, [one.reference for one in comparisons]),
        ("second", candidate, [one.candidate for one in comparisons]),
    ):
        side = matrix._replace(means=np.stack(means, axis=1))  # over the topics in common
        for figure in side_figures(side, reference.measures[0], labels):
            yield figure._replace(name=f"{figure.name}-{place}")


def side_figures(matrix: ScoreMatrix, measure: str, labels: Mapping[str, str]) -> Iterator[NamedFigure]:
    """Yield what figures show of one side alone: a measure against length; weighted precision and recall.

    measure: its key; labels: of the measures, by key.
    """
    runs = figures.Runs(matrix.runs, matrix.tasks)
    if LENGTH in matrix.measures and measure != LENGTH:
        at, length = matrix.measures.index(measure), matrix.measures.index(LENGTH)
        title = f"{labels[measure]}, {matrix.name}"
        answers = figures.Cells(matrix.topics, matrix.cells[..., length], matrix.cells[..., at])
        by_length = figures.length_figure(
            runs, matrix.means[:, length], matrix.means[:, at], title=title, cells=answers if matrix.topics else None
        )
        yield NamedFigure("length", f"Score against length: {title}", by_length)
    if matrix.topics and {PRECISION, RECALL} <= set(matrix.measures):
        precision, recall = (matrix.cells[..., matrix.measures.index(one)] for one in (PRECISION, RECALL))
        titles = (f"Weighted precision, {matrix.name}", f"Weighted recall, {matrix.name}")
        support = figures.precision_recall_scatter(runs, matrix.topics, precision, recall, titles=titles)
        yield NamedFigure("support", f"Weighted precision and recall: {matrix.name}", support)
