"""A comparison of two score matrices: every statistic, for each measure."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metaeval.stats import correlation
from metaeval.stats.bootstrap import Intervals, bootstrap_tau
from metaeval.stats.levels import Levels, TopicPairs, measure_pairs, run_means, tau_levels
from metaeval.stats.means import DIGITS, Figures
from metaeval.stats.measures import LENGTH
from metaeval.stats.score_matrix import MatchedScores
from metaeval.stats.significance import PairAgreement, significance_agreement
from metaeval.stats.statistic import Statistic, undefined
from metaeval.stats.top import Top, Winner, top_taus, winner, winner_of_topics

NO_CELLS = "no scores by topic"


class AtTheTop(NamedTuple):
    """How far a measure's best runs are agreed on."""

    taus: Top
    winner: Winner


class MeasureComparison(NamedTuple):
    """All statistics of a measure, over the runs' means under both: reference, candidate (runs,).

    levels: tau-b; intervals and pairs of runs only where there are scores by topic. tau_ap and its variant a take the
    reference for the truth. dropped: the run that loses most places in the candidate. top: None of lengths, of which
    more is not better.
    """

    measure: str
    reference: Figures
    candidate: Figures
    levels: Levels
    intervals: Intervals | None
    tau_ap: Statistic
    tau_ap_a: Statistic
    tau_ap_b: Statistic
    rbo: correlation.Overlap
    pearson: Statistic
    spearman: Statistic
    drop: Statistic
    dropped: str
    pairs: PairAgreement | None
    top: AtTheTop | None


def compare(scores: MatchedScores, *, seed: int, draws: int) -> list[MeasureComparison]:
    """Compare a reference and a candidate, measure by measure. seed, draws: of topics, and of equal noise."""
    x, y = scores.reference.cells, scores.candidate.cells
    by_topic: Sequence[tuple[TopicPairs, Intervals] | None] = [None] * len(scores.reference.measures)
    if scores.reference.topics:
        pairs = measure_pairs(x, y)
        by_topic = list(zip(pairs, bootstrap_tau(x, y, pairs, seed=seed, draws=draws), strict=True))
    return [
        _compare_measure(scores, at, x[..., at], y[..., at], found, seed, draws) for at, found in enumerate(by_topic)
    ]


def _compare_measure(
    scores: MatchedScores,
    at: int,
    x: Figures,
    y: Figures,
    by_topic: tuple[TopicPairs, Intervals] | None,
    seed: int,
    draws: int,
) -> MeasureComparison:
    runs = scores.reference.runs
    if by_topic:
        once = np.ones((1, x.shape[1]))
        means = run_means(x, once)[0], run_means(y, once)[0]
        levels = tau_levels(x, y, by_topic[0])
    else:
        means = scores.reference.means[:, at].round(DIGITS), scores.candidate.means[:, at].round(DIGITS)
        nothing = undefined(0, NO_CELLS)
        levels = Levels(correlation.kendall_tau(*means), nothing, nothing, 0, np.empty(0))
    drop, place = correlation.largest_drop(*means)
    top = None
    if scores.reference.measures[at] != LENGTH:
        taus = top_taus(*means, seed=seed, draws=draws, has_band=bool(by_topic))
        top = AtTheTop(taus, winner_of_topics(x, y, seed=seed, draws=draws) if by_topic else winner(*means))
    is_ranked = ~np.isnan(means[0] + means[1])
    return MeasureComparison(
        measure=scores.reference.measures[at],
        reference=means[0],
        candidate=means[1],
        levels=levels,
        intervals=by_topic[1] if by_topic else None,
        tau_ap=correlation.tau_ap(*means),
        tau_ap_a=correlation.tau_ap_a(*means),
        tau_ap_b=correlation.tau_ap_b(*means),
        rbo=correlation.rbo(np.where(is_ranked, means[0], np.nan), np.where(is_ranked, means[1], np.nan)),
        pearson=correlation.pearson(*means),
        spearman=correlation.spearman(*means),
        drop=drop,
        dropped="" if place is None else runs[place],
        pairs=significance_agreement(x, y) if by_topic else None,
        top=top,
    )
