"""Confidence intervals by a bootstrap over topics: how far tau depends on which topics were judged."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.correlation import taus
from metaeval.stats.levels import TopicPairs, measure_pairs, pair_scores, run_means, topic_pairs
from metaeval.stats.means import DIGITS, Figures

Draws = npt.NDArray[np.int64]
_SAME = 0.5 * 10.0**-DIGITS
_FEW_TOPICS, _NO_DRAW = "fewer than two topics", "undefined in every draw"


class Interval(NamedTuple):
    """A percentile interval with the mean of the draws; None where undefined, and why says why.

    draws: those in which the statistic is defined; the others are in none of the three.
    """

    low: float | None
    high: float | None
    mean: float | None
    draws: int
    why: str = ""


class Bounds(NamedTuple):
    """The bounds of an interval; None where it is undefined, and why says why."""

    low: float | None
    high: float | None
    why: str = ""


class Intervals(NamedTuple):
    """The intervals of tau at its three levels, as in levels.Levels: percentile intervals, and the BCa ones of each."""

    run: Interval
    topic: Interval
    cell: Interval
    bca: tuple[Bounds, Bounds, Bounds]


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
    often as they are drawn. Drawing adds noise, which pulls tau down: hence the mean of the draws beside the interval,
    and the BCa interval, which corrects for it.
    """
    x, y = pair_scores(first, second)
    topics = x.shape[1]
    if topics < 2:
        nothing, few = Interval(None, None, None, 0, _FEW_TOPICS), Bounds(None, None, _FEW_TOPICS)
        return [Intervals(nothing, nothing, nothing, (few, few, few))] * x.shape[2]
    drawn = count_topics(draw_topics(topics, draws, seed), topics)
    weights = np.vstack([drawn, 1 - np.eye(topics), np.ones(topics)])  # then all but one, and all
    found = []
    for at, of_measure in enumerate(pairs or measure_pairs(x, y)):
        levels = [
            (level[:draws], level[draws:-1], float(level[-1]))
            for level in replicates(x[..., at], y[..., at], weights, of_measure)
        ]
        run, topic, cell = (interval(of_draws, confidence) for of_draws, _, _ in levels)
        of_run, of_topic, of_cell = (bca(*level, confidence) for level in levels)
        found.append(Intervals(run, topic, cell, (of_run, of_topic, of_cell)))
    return found


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
        # The one that leaves out NaN goes through the columns one by one.
        percentile = np.nanpercentile if np.isnan(means[:, defined]).any() else np.percentile
        bounds[:, defined] = percentile(means[:, defined], [tail, 100 - tail], axis=0)
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


def bca(found: Figures, left_out: Figures, value: float, confidence: float = 0.95) -> Bounds:
    """Return the bias-corrected and accelerated interval of a statistic (Efron, JASA 1987).

    found: what draws gave; left_out: the statistic without each topic in turn (the jackknife); value: over all topics.
    Its bounds are percentiles of the draws, NaN left out, at levels Phi(z0 + z / (1 - a * z)) with z = z0 + z_alpha.
    z0 = Phi^-1 of the share of draws below the value, those equal to it counting half; a = sum(d^3) / (6 *
    sum(d^2)^1.5), d being how far the statistic without a topic lies below the mean of these. Where the bounds
    are corrected so far that the value is not between them, they are a few extreme draws: then there is no interval.
    """
    from scipy import special  # a process that draws nothing does not load it

    draws = found[~np.isnan(found)]
    if np.isnan(value) or not len(draws):
        return Bounds(None, None, _NO_DRAW)
    sides = np.sign(np.round(draws - value, DIGITS))
    if abs(sides.sum()) == len(draws):
        return Bounds(None, None, f"{'no' if sides[0] > 0 else 'all'} draws lie below the value")
    if np.isnan(left_out).any():
        return Bounds(None, None, "undefined without one of the topics")
    apart = left_out.mean() - left_out
    squares = float((apart**2).sum())
    if not squares > 0:
        return Bounds(None, None, "the same without any one of the topics")
    acceleration = float((apart**3).sum()) / (6 * squares**1.5)
    bias, tail = special.ndtri((1 - sides.mean()) / 2), special.ndtri((1 - confidence) / 2)
    z = bias + np.array([tail, -tail])
    scale = 1 - acceleration * z
    if (scale <= 0).any():
        return Bounds(None, None, "the topics are too unlike for it")
    low, high = np.percentile(draws, 100 * special.ndtr(bias + z / scale))
    if not low <= value + _SAME or not high >= value - _SAME:
        return Bounds(None, None, "nearly all draws lie on one side of the value")
    return Bounds(float(low), float(high))


def interval(found: Figures, confidence: float = 0.95) -> Interval:
    """Return the percentile interval of what draws gave, NaN left out."""
    defined = found[~np.isnan(found)]
    if not len(defined):
        return Interval(None, None, None, 0, _NO_DRAW)
    tail = (1 - confidence) / 2 * 100
    low, high = np.percentile(defined, [tail, 100 - tail])
    return Interval(float(low), float(high), float(defined.mean()), len(defined))
