"""How far labels and rankings depend on how a judge is asked: variants of the same request, the first one the base.

Codes of labels are (variants, items), as in agreement.py, NO_VALUE for none; means of runs are (variants, runs).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement import NO_VALUE, Agreement, confusion_matrix, rate_agreement
from metaeval.stats.calibration import LEAST_TOPICS, Estimate, effective_size, wilson_interval
from metaeval.stats.generalizability import CONSTANT, Components, variance_components
from metaeval.stats.means import DIGITS, Figures, mean, within
from metaeval.stats.statistic import Statistic, undefined

_FEW = f"fewer than {LEAST_TOPICS} topics"
_NONE = "no item has both labels"


class Flips(NamedTuple):
    """What a variant labels otherwise than the base, of the items that both labelled.

    rate: the share, with a 95 % interval over topics; agreement: rows the base's labels, columns the variant's.
    """

    rate: Estimate
    agreement: Agreement


class Spread(NamedTuple):
    """Variance components of run means by run and variant: of runs, of variants, and of runs by variant.

    share: of the variance between the runs of one variant, what is due to the variant: run_variant / (run +
    run_variant). What moves all runs alike, `variant`, is no part of it.
    """

    run: float
    variant: float
    run_variant: float
    share: Statistic


def count_flips(codes: npt.ArrayLike, topics: npt.ArrayLike, labels: int) -> list[Flips]:
    """Return what each variant but the base labels otherwise. topics: (items,), the topic of each, of any names.

    The interval is Wilson's for as many independent labels as those clustered in topics are worth; there is none below
    LEAST_TOPICS topics. Raises ValueError for codes that are no label's.
    """
    given = within(codes, NO_VALUE, labels - 1, "codes")
    of_topic = np.unique(np.asarray(topics), return_inverse=True)[1]
    return [_flips(given[0], variant, of_topic, labels) for variant in given[1:]]


def _flips(
    base: npt.NDArray[np.int8], variant: npt.NDArray[np.int8], topic: npt.NDArray[np.intp], labels: int
) -> Flips:
    both = (base != NO_VALUE) & (variant != NO_VALUE)
    agreement = rate_agreement(confusion_matrix(base[both], variant[both], labels))
    n = int(both.sum())
    if not n:
        return Flips(Estimate(None, None, None, 0, why=_NONE), agreement)
    sizes = np.bincount(topic[both])
    hits = np.bincount(topic[both], base[both] != variant[both])
    rate = float(hits.sum()) / n
    if (sizes > 0).sum() < LEAST_TOPICS:
        return Flips(Estimate(rate, None, None, n, why=_FEW), agreement)
    size = effective_size(hits, sizes) or float(n)
    return Flips(Estimate(rate, *wilson_interval(rate, size), n, size), agreement)


def variant_means(scores: npt.ArrayLike) -> Figures:
    """Return the mean score of runs under each variant, over the cells that count under all: (variants, runs).

    scores: (variants, runs, topics), NaN where a cell does not count; so is the mean of a run without any.
    """
    return np.round(mean(common_cells(scores), axis=2), DIGITS)


def common_cells(scores: npt.ArrayLike) -> Figures:
    """Return scores (variants, runs, topics) with NaN where a cell does not count under every variant."""
    cells = np.asarray(scores, dtype=np.float64)
    found: Figures = np.where(np.isnan(cells).any(axis=0), np.nan, cells)
    return found


def spread_of(means: npt.ArrayLike) -> Spread:
    """Return the variance components of run means in a two-way random ANOVA with one mean a cell.

    Runs without a mean are left out. Raises ValueError with fewer than two variants or runs.
    """
    known = np.asarray(means, dtype=np.float64)
    found: Components = variance_components(known[:, ~np.isnan(known).any(axis=0)].T)
    between = found.run + found.residual
    share = Statistic(found.residual / between, found.runs) if between else undefined(found.runs, CONSTANT)
    return Spread(found.run, found.topic, found.residual, share)


def rank_runs(means: npt.ArrayLike) -> Figures:
    """Return the rank of each run under each variant: (variants, runs), 1 for the best, equal means the mean of theirs.

    NaN for a run without a mean.
    """
    found = np.asarray(means, dtype=np.float64)
    better, equal = (
        compare(found[:, np.newaxis, :], found[:, :, np.newaxis]).sum(axis=2) for compare in (np.greater, np.equal)
    )
    return np.where(np.isnan(found), np.nan, 1 + better + (equal - 1) / 2)


def robust_order(means: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return which run (rows) is better than which (columns) under every variant: (runs, runs).

    A pair that ties under one variant, or lacks a mean, is not decided.
    """
    found = np.asarray(means, dtype=np.float64)
    return np.asarray((found[:, :, np.newaxis] > found[:, np.newaxis, :]).all(axis=0))
