"""Kendall's tau-b at its three levels: of runs, of the runs on each topic, of all cells.

Scores are arrays (runs, topics) of one measure, NaN where a cell does not count (means.counted); both arrays have the
same runs and topics. A cell counts where it counts in both, at all levels alike. Scores that are equal to ten digits
tie, as in files: else a tie of two means would depend on the order in which they were summed.

All pairs of cells are compared once, topic by topic (topic_pairs). Everything else, a bootstrap of 1,000 draws
included, is a weighted sum of these comparisons.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.correlation import CONSTANT, TOO_FEW, tau, taus
from metaeval.stats.means import DIGITS, Figures
from metaeval.stats.statistic import Statistic, undefined

NO_TOPIC = "no topic has a tau"
_MOST_COUNTS = 1_000_000  # of pairs of distinct scores: 8 MB
Whole = npt.NDArray[np.int64]


class Levels(NamedTuple):
    """Tau at the three levels. run: n runs; topic: the mean over the n topics that have a tau; cell: n cells.

    undefined_topics: those that have none. by_topic: (topics,), NaN where undefined.
    """

    run: Statistic
    topic: Statistic
    cell: Statistic
    undefined_topics: int
    by_topic: Figures


class TopicPairs(NamedTuple):
    """Counts of pairs of a cell of one topic (rows) and one of another (columns), all (topics, topics).

    concordance: concordant pairs less discordant ones; first, second: pairs that don't tie there. They are whole
    numbers, so that sums of them are exact.
    """

    concordance: Figures
    first: Figures
    second: Figures

    def within(self) -> Figures:
        """Return the tau of the runs on each topic: (topics,), NaN where undefined."""
        return tau(*(np.diagonal(pairs) for pairs in self))

    def across(self, weights: Figures) -> Figures:
        """Return the tau of all cells where topics count as often as weights (draws, topics) say: (draws,)."""
        return tau(*(((weights @ pairs) * weights).sum(axis=1) for pairs in self))


def pair_scores(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Figures, Figures]:
    """Return both arrays of scores, NaN in both where one is. Raises ValueError where their shapes differ."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim < 2:
        raise ValueError(f"scores are two tables of the same runs and topics, not {x.shape} and {y.shape}")
    lacks = np.isnan(x) | np.isnan(y)
    return np.where(lacks, np.nan, x), np.where(lacks, np.nan, y)


def tau_levels(first: npt.ArrayLike, second: npt.ArrayLike, pairs: TopicPairs | None = None) -> Levels:
    """Return tau-b at the three levels. first, second: (runs, topics); pairs: their topic_pairs, if known."""
    x, y = pair_scores(first, second)
    once = np.ones((1, x.shape[1]))
    means = run_means(x, once), run_means(y, once)
    by_topic = pairs.within() if pairs else taus(x.T.round(DIGITS), y.T.round(DIGITS))
    defined = int((~np.isnan(by_topic)).sum())
    return Levels(
        run=_statistic(taus(*means)[0], int((~np.isnan(means[0])).sum())),
        topic=Statistic(float(np.nanmean(by_topic)), defined) if defined else undefined(0, NO_TOPIC),
        cell=_statistic(float(pairs.across(once)[0]) if pairs else _tau_of_cells(x, y), int((~np.isnan(x)).sum())),
        undefined_topics=len(by_topic) - defined,
        by_topic=by_topic,
    )


def run_means(scores: Figures, weights: Figures) -> Figures:
    """Return the mean score of runs where topics count as often as weights say: (draws, runs), NaN where none counts.

    scores: (runs, topics); weights: (draws, topics).
    """
    there = ~np.isnan(scores)
    # Where nothing is lacking, all runs have as many topics.
    size = weights.sum(axis=1, keepdims=True) if there.all() else weights @ there.T
    total = weights @ np.where(there, scores, 0).T
    means: Figures = np.divide(total, size, out=np.full(total.shape, np.nan), where=size > 0)
    return np.round(means, DIGITS)


def topic_pairs(first: Figures, second: Figures) -> TopicPairs:
    """Compare all cells with all, by the topics of the two. first, second: (runs, topics), as pair_scores has them.

    A topic has few distinct scores: as many as its labels can give. So its cells are counted in a table of these; how
    any cell compares with all of them depends on its place among these alone, and is looked up.
    """
    topics = first.shape[1]
    topic, x, y = _cells(first, second)
    starts = np.searchsorted(topic, np.arange(topics + 1))
    concordance = np.zeros((topics, topics))
    for at in range(topics):
        # With the topics before, it has been compared already.
        cells, own = slice(starts[at], None), slice(starts[at + 1] - starts[at])
        if own.stop:
            rows, columns = _places(x[cells], own), _places(y[cells], own)
            x_steps, y_steps = _steps(rows[own]), _steps(columns[own])
            counts = np.zeros((x_steps.shape[1], y_steps.shape[1]))
            np.add.at(counts, (rows[own] // 2, columns[own] // 2), 1)
            of_places = x_steps @ counts @ y_steps.T
            of_cells = of_places.ravel()[rows * of_places.shape[1] + columns]
            concordance[at:, at] = np.bincount(topic[cells] - at, of_cells, topics - at)
    concordance = concordance + np.tril(concordance, -1).T
    return TopicPairs(concordance, _untied(topic, x, topics), _untied(topic, y, topics))


def _tau_of_cells(first: Figures, second: Figures) -> float:
    """Return the tau of all cells: sooner than topic_pairs(), which tells more, where distinct scores are few."""
    _, x, y = _cells(first, second)
    shape = int(x.max(initial=-1)) + 1, int(y.max(initial=-1)) + 1
    if math.prod(shape) > _MOST_COUNTS:
        return float(topic_pairs(first, second).across(np.ones((1, first.shape[1])))[0])
    counts = np.bincount(x * shape[1] + y, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
    less = counts.cumsum(axis=0) - counts  # of the cells with less by the first: by what they have by the second
    below = less.cumsum(axis=1) - less
    above = less.sum(axis=1, keepdims=True) - less - below
    concordance = 2 * (counts * (below - above)).sum()
    untied = [np.array([len(x) ** 2 - (counts.sum(axis=axis) ** 2).sum()]) for axis in (1, 0)]
    return float(tau(np.array([concordance]), *untied)[0])


def _cells(first: Figures, second: Figures) -> tuple[Whole, Whole, Whole]:
    """Return the topic of each cell, by topic, and the places of its two scores among all that are distinct."""
    topic, run = np.nonzero(~np.isnan(first).T)
    x, y = (np.unique(scores[run, topic].round(DIGITS), return_inverse=True)[1] for scores in (first, second))
    return topic, x, y


def measure_pairs(first: npt.ArrayLike, second: npt.ArrayLike) -> list[TopicPairs]:
    """Compare all cells with all, measure by measure. first, second: (runs, topics, measures)."""
    x, y = pair_scores(first, second)
    return [topic_pairs(x[..., at], y[..., at]) for at in range(x.shape[2])]


def _places(codes: Whole, own: slice) -> Whole:
    """Return the places of scores among the distinct ones of some: 2k + 1 for the k-th itself, 2k right below it."""
    is_own = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    is_own[codes[own]] = 1
    places: Whole = (2 * np.cumsum(is_own) - is_own)[codes]
    return places


def _steps(own: Whole) -> Figures:
    """Return how each place compares with each distinct score: (places, distinct), 1, 0 or -1."""
    distinct = int(own.max() + 1) // 2
    steps: Figures = np.sign(np.arange(2 * distinct + 1.0)[:, np.newaxis] - (2 * np.arange(distinct) + 1))
    return steps


def _untied(topic: Whole, codes: Whole, topics: int) -> Figures:
    """Count the pairs of cells whose scores differ, by the topics of the two."""
    values = int(codes.max(initial=-1)) + 1
    counts = np.bincount(topic * values + codes, minlength=topics * values).reshape(topics, values).astype(np.float32)
    sizes = counts.sum(axis=1, dtype=np.float64)
    # Exact as float32: no two topics have 16 million pairs.
    untied: Figures = np.outer(sizes, sizes) - counts @ counts.T
    return untied


def _statistic(found: float, n: int) -> Statistic:
    """Return a tau, or why it is NaN."""
    if np.isnan(found):
        return undefined(n, TOO_FEW if n < 2 else CONSTANT)
    return Statistic(float(found), n)
