"""Confidence intervals by a bootstrap over topics: how far tau depends on which topics were judged."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.correlation import taus
from metaeval.stats.levels import TopicPairs, measure_pairs, pair_scores, run_means, topic_pairs
from metaeval.stats.means import Figures

Draws = npt.NDArray[np.int64]


class Interval(NamedTuple):
    """A percentile interval with the mean of the draws; None where undefined, and why says why.

    draws: those in which the statistic is defined; the others are in none of the three.
    """

    low: float | None
    high: float | None
    mean: float | None
    draws: int
    why: str = ""


class Intervals(NamedTuple):
    """The intervals of tau at its three levels, as in levels.Levels."""

    run: Interval
    topic: Interval
    cell: Interval


def draw_topics(topics: int, draws: int, seed: int) -> Draws:
    """Draw as many topics as there are, with replacement: (draws, topics), places of topics. Seeded."""
    return np.random.default_rng(seed).integers(0, topics, (draws, topics))


def bootstrap_tau(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    pairs: Sequence[TopicPairs] = (),
    *,
    seed: int,
    draws: int = 1000,
    confidence: float = 0.95,
) -> list[Intervals]:
    """Return the intervals of tau-b at the three levels, for each measure.

    first, second: (runs, topics, measures), NaN where a cell does not count; pairs: their measure_pairs, if known. All
    measures and both sides have the same draws; run means, topics' taus and cells are those of the topics drawn, as
    often as they are drawn. Drawing adds noise, which pulls tau down: hence the mean of the draws beside the interval.
    """
    x, y = pair_scores(first, second)
    if x.shape[1] < 2:
        return [Intervals(*[Interval(None, None, None, 0, "fewer than two topics")] * 3)] * x.shape[2]
    weights = count_topics(draw_topics(x.shape[1], draws, seed), x.shape[1])
    return [
        Intervals(*(interval(found, confidence) for found in replicates(x[..., at], y[..., at], weights, of_measure)))
        for at, of_measure in enumerate(pairs or measure_pairs(x, y))
    ]


def bootstrap_means(
    scores: npt.ArrayLike, *, seed: int, draws: int = 1000, confidence: float = 0.95
) -> tuple[Figures, Figures]:
    """Return the lower and upper bounds of runs' mean scores, each (runs, measures); NaN where undefined.

    scores: (runs, topics, measures), NaN where a cell does not count. In a draw the mean of a run r is
    sum_t(w_t * s_rt) / sum_t(w_t * [s_rt counts]), where w_t says how often topic t was drawn; all runs and measures
    have the same draws. The bounds are percentiles of the means (2.5 and 97.5 for 95 %), undefined ones left out.
    """
    cells = np.asarray(scores, dtype=np.float64)
    runs, topics, measures = cells.shape
    bounds = np.full((2, runs * measures), np.nan)
    if topics > 1 and runs:
        weights = count_topics(draw_topics(topics, draws, seed), topics)
        means = run_means(cells.transpose(0, 2, 1).reshape(-1, topics), weights)
        defined = ~np.isnan(means).all(axis=0)
        tail = (1 - confidence) / 2 * 100
        bounds[:, defined] = np.nanpercentile(means[:, defined], [tail, 100 - tail], axis=0)
    low, high = bounds.reshape(2, runs, measures)
    return low, high


def count_topics(drawn: Draws, topics: int) -> Figures:
    """Count each topic in each draw: (draws, topics)."""
    at = np.arange(len(drawn))[:, np.newaxis] * topics + drawn
    return np.bincount(at.ravel(), minlength=len(drawn) * topics).reshape(len(drawn), topics).astype(np.float64)


def replicates(
    first: Figures, second: Figures, weights: Figures, pairs: TopicPairs | None = None
) -> tuple[Figures, Figures, Figures]:
    """Return tau of each draw at the three levels: of runs, of topics (their mean), of cells; each (draws,).

    first, second: (runs, topics), as levels.pair_scores has them; weights: (draws, topics); pairs: topic_pairs of both,
    if known. NaN where undefined.
    """
    pairs = pairs or topic_pairs(first, second)
    by_topic = pairs.within()
    defined = ~np.isnan(by_topic)
    size = weights @ defined
    of_topics = np.divide(
        weights @ np.where(defined, by_topic, 0), size, out=np.full(len(weights), np.nan), where=size > 0
    )
    return taus(run_means(first, weights), run_means(second, weights)), of_topics, pairs.across(weights)


def interval(found: Figures, confidence: float = 0.95) -> Interval:
    """Return the percentile interval of what draws gave, NaN left out."""
    defined = found[~np.isnan(found)]
    if not len(defined):
        return Interval(None, None, None, 0, "undefined in every draw")
    tail = (1 - confidence) / 2 * 100
    low, high = np.percentile(defined, [tail, 100 - tail])
    return Interval(float(low), float(high), float(defined.mean()), len(defined))
