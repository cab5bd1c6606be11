"""The figures of a comparison of scores."""

from collections.abc import Iterator, Mapping, Sequence

import altair as alt

from metaeval.charts import figures
from metaeval.charts.figures import NamedFigure
from metaeval.charts.rendering import name_of_measure
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
    reference, candidate, _ = scores
    runs = figures.Runs(reference.runs, reference.tasks)
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
            ),
        )
        if reference.topics:
            title = f"τ of runs, {label}"
            by_topic = figures.topic_tau_figure(reference.topics, one.levels.by_topic, title=title)
            yield NamedFigure(f"topics-{name}", f"Agreement of rankings by topic, {label}", by_topic)
            curve = topics_needed(x, y, seed=seed, draws=draws)
            needed = figures.topics_needed_figure(curve, title=title, hours=hours)
            yield NamedFigure(f"needed-{name}", f"How many topics are enough, {label}", needed)
    if LENGTH in reference.measures and reference.measures[0] != LENGTH:
        at = reference.measures.index(LENGTH)
        lengths, first = comparisons[at], comparisons[0]
        label = labels[first.measure]
        for place, matrix, length, score in (
            ("first", reference, lengths.reference, first.reference),
            ("second", candidate, lengths.candidate, first.candidate),
        ):
            title = f"{label}, {matrix.name}"
            answers = figures.Cells(matrix.topics, matrix.cells[..., at], matrix.cells[..., 0])
            behind = answers if matrix.topics else None
            by_length = figures.length_figure(runs, length, score, title=title, cells=behind)
            yield NamedFigure(f"length-{place}", f"Score against length: {title}", by_length)
    if reference.topics and {PRECISION, RECALL} <= set(reference.measures):
        for place, matrix in (("first", reference), ("second", candidate)):
            yield NamedFigure(
                f"support-{place}", f"Weighted precision and recall: {matrix.name}", _support_figure(runs, matrix)
            )


def _support_figure(runs: figures.Runs, matrix: ScoreMatrix) -> alt.LayerChart:
    precision, recall = (matrix.cells[..., matrix.measures.index(measure)] for measure in (PRECISION, RECALL))
    titles = (f"Weighted precision, {matrix.name}", f"Weighted recall, {matrix.name}")
    return figures.precision_recall_scatter(runs, matrix.topics, precision, recall, titles=titles)
