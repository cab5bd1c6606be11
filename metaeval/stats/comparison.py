"""A comparison of the scores of two sides: every statistic, for each measure."""

from typing import NamedTuple

import numpy as np

from metaeval.stats import correlation as rankings
from metaeval.stats.bootstrap import Intervals, bootstrap_tau
from metaeval.stats.levels import Levels, run_means, tau_levels
from metaeval.stats.means import DIGITS, Figures
from metaeval.stats.score_matrix import Pair
from metaeval.stats.significance import PairAgreement, significance_agreement
from metaeval.stats.statistic import Value, undefined

NO_CELLS = "no scores by topic"


class Compared(NamedTuple):
    """What is found for a measure, over first and second: the runs' means, (runs,).

    levels: tau-b; intervals and pairs of runs only where there are scores by topic. tau_ap and its variant a take the
    first side for the truth. dropped: the run that loses most places by the second side.
    """

    measure: str
    first: Figures
    second: Figures
    levels: Levels
    intervals: Intervals | None
    tau_ap: Value
    tau_ap_a: Value
    tau_ap_b: Value
    rbo: rankings.Overlap
    pearson: Value
    spearman: Value
    drop: Value
    dropped: str
    pairs: PairAgreement | None


def compare(pair: Pair, *, seed: int, draws: int) -> list[Compared]:
    """Compare two sides, measure by measure."""
    first, second, _ = pair
    has_cells = bool(first.topics)
    x, y = first.cells, second.cells
    intervals = bootstrap_tau(x, y, seed=seed, draws=draws) if has_cells else None
    return [
        _compared(pair, at, x[..., at], y[..., at], intervals[at] if intervals else None)
        for at in range(len(first.measures))
    ]


def _compared(pair: Pair, at: int, x: Figures, y: Figures, intervals: Intervals | None) -> Compared:
    runs = pair.first.runs
    if intervals:
        once = np.ones((1, x.shape[1]))
        means = run_means(x, once)[0], run_means(y, once)[0]
        levels = tau_levels(x, y)
    else:
        means = pair.first.means[:, at].round(DIGITS), pair.second.means[:, at].round(DIGITS)
        nothing = undefined(0, NO_CELLS)
        levels = Levels(rankings.kendall_tau(*means), nothing, nothing, 0, np.empty(0))
    drop, place = rankings.largest_drop(*means)
    there = ~np.isnan(means[0] + means[1])
    return Compared(
        measure=pair.first.measures[at],
        first=means[0],
        second=means[1],
        levels=levels,
        intervals=intervals,
        tau_ap=rankings.tau_ap(*means),
        tau_ap_a=rankings.tau_ap_a(*means),
        tau_ap_b=rankings.tau_ap_b(*means),
        rbo=rankings.rbo(np.where(there, means[0], np.nan), np.where(there, means[1], np.nan)),
        pearson=rankings.pearson(*means),
        spearman=rankings.spearman(*means),
        drop=drop,
        dropped="" if place is None else runs[place],
        pairs=significance_agreement(x, y) if intervals else None,
    )
