"""Item analysis: what each nugget of a bank tells of answers, and how short a bank may be.

The values of a topic are an array (answers, nuggets): what each label counts, from 0 to 1. An answer that lacks a label
(NaN) is left out, so only judged answers count: one that a run never gave is no 0 here.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.bootstrap import Interval, interval
from metaeval.stats.correlation import taus
from metaeval.stats.means import DIGITS, Figures
from metaeval.stats.statistic import Statistic, undefined

LEAST_RUNS = 6  # of which half choose nuggets: by two runs no correlation says anything
_SIZES = 20  # of banks, at most
_ONE_ANSWER = "only one answer has all labels"
_UNDEFINED = -2.0  # in place of a correlation, below all others
_SAME = 1e-12  # a variance below it is of equal values


class Flag(StrEnum):
    """What a nugget may be looked at again for."""

    NEVER_FOUND = "never found"
    FOUND_BY_ALL = "found by all"
    NEGATIVE = "negative correlation"


class Item(NamedTuple):
    """A nugget: its difficulty p (mean value: easy ones are near 1), the Pearson correlation of its values with the
    mean of the topic's other nuggets, and its information: the variance (n - 1) of its values over answers.
    """

    difficulty: Statistic
    correlation: Statistic
    information: Statistic

    @property
    def flags(self) -> list[Flag]:
        """Return what stands out."""
        found = {
            Flag.NEVER_FOUND: self.difficulty.value == 0,
            Flag.FOUND_BY_ALL: self.difficulty.value == 1,
            Flag.NEGATIVE: (self.correlation.value or 0) < 0,
        }
        return [flag for flag, holds in found.items() if holds]


def item_statistics(values: npt.ArrayLike) -> list[Item]:
    """Return the statistics of each nugget of a topic. values: (answers, nuggets)."""
    given = _judged(values)
    answers, nuggets = given.shape
    if not answers:
        none = undefined(0, "no answer has all labels")
        return [Item(none, none, none)] * nuggets
    rest = _rest(given)
    own, others = given - given.mean(axis=0), rest - rest.mean(axis=0)
    varies = np.ptp(given, axis=0) > 0
    defined = varies & (np.ptp(rest, axis=0) > 0)  # not where there is no other nugget: NaN
    scale = np.sqrt(np.where(defined, (own**2).sum(axis=0) * (others**2).sum(axis=0), 1))
    correlations = ((own * others).sum(axis=0) / scale).clip(-1, 1).tolist()
    variances = given.var(axis=0, ddof=1).tolist() if answers > 1 else []
    return [
        Item(
            Statistic(difficulty, answers),
            Statistic(correlations[at], answers) if defined[at] else _no_correlation(given, bool(varies[at])),
            Statistic(variances[at], answers) if variances else undefined(answers, _ONE_ANSWER),
        )
        for at, difficulty in enumerate(given.mean(axis=0).tolist())
    ]


def _no_correlation(given: Figures, varies: bool) -> Statistic:
    if len(given) < 2:
        return undefined(len(given), _ONE_ANSWER)
    if given.shape[1] < 2:
        return undefined(len(given), "the topic has no other nugget")
    same = "mean of the other nuggets" if varies else "value"
    return undefined(len(given), f"all answers have the same {same}")


def places_by_correlation(items: Sequence[Item]) -> list[int]:
    """Return the place of each nugget of a topic by its item-rest correlation, from 1: a bank of k keeps the first k.

    An undefined correlation comes last, and ties go by bank order, as in shorter_banks().
    """
    found = [_UNDEFINED if (r := one.correlation.value) is None else round(r, DIGITS) for one in items]
    order = np.argsort(-np.array(found), kind="stable")
    return [int(place) for place in np.argsort(order, kind="stable") + 1]


def cronbach_alpha(values: npt.ArrayLike) -> Statistic:
    """Return the consistency of a topic's bank. values: (answers, nuggets); n: answers.

    k / (k - 1) * (1 - sum of the nuggets' variances / variance of their sum), over k nuggets (Cronbach 1951).
    """
    given = _judged(values)
    answers, nuggets = given.shape
    if nuggets < 2:
        return undefined(answers, "fewer than two nuggets")
    if answers < 2:
        return undefined(answers, "fewer than two answers with all labels")
    total = given.sum(axis=1).round(DIGITS).var(ddof=1)
    if total < _SAME:
        return undefined(answers, "all answers have the same sum of values")
    return Statistic(float(nuggets / (nuggets - 1) * (1 - given.var(axis=0, ddof=1).sum() / total)), answers)


class ShortBank(NamedTuple):
    """Tau of runs between a bank of at most so many nuggets a topic and the whole bank.

    share: of all nuggets; best: those with the highest item-rest correlation; random: as many drawn at random. Each is
    the mean over splits of the runs, with percentiles of these.
    """

    nuggets: int
    share: float
    best: Interval
    random: Interval


def shorter_banks(topics: Sequence[npt.ArrayLike], *, seed: int, splits: int = 10) -> list[ShortBank]:
    """Return how well shorter banks rank runs that had no say in which nuggets they keep, by size.

    topics: values (runs, nuggets) of each, NaN where a run's answer is not judged, all of the same runs. The runs are
    split at random into halves, `splits` times. One half gives the item-rest correlations by which each topic keeps its
    k best nuggets (an undefined one comes last, ties go by bank order); tau-b is that of the other half's runs, whose
    scores are means of values over nuggets, then over topics. Each half is either once. The short bank is part of the
    whole one, so tau is high even by chance: compare it with that of random nuggets. Raises ValueError for fewer than
    LEAST_RUNS runs, or where no topic has a nugget.
    """
    given = [array for values in topics if (array := np.asarray(values, dtype=np.float64)).size]
    runs = len(given[0]) if given else 0
    if runs < LEAST_RUNS:
        raise ValueError(f"nuggets are chosen by half of the runs: of {LEAST_RUNS} runs at least, not {runs}")
    draw = np.random.default_rng(seed)
    chooses = _halves(runs, splits, draw)
    nuggets = np.array([values.shape[1] for values in given])
    sizes = np.array(sorted(set(np.linspace(1, nuggets.max(), _SIZES).round().astype(int).tolist())))
    totals = np.zeros((2, len(chooses), len(sizes), runs))
    judged = np.zeros(runs)
    for values in given:
        there = np.asarray(~np.isnan(values).any(axis=1))
        counted = np.where(there[:, np.newaxis], values, 0)
        best = np.argsort(-_correlations(counted, chooses & there), axis=1, kind="stable")
        random = draw.permuted(np.tile(np.arange(values.shape[1]), (len(chooses), 1)), axis=1)
        for at, order in enumerate((best, random)):
            totals[at] += _means_of_first(counted, order, sizes)
        judged += there
    tested = ~chooses & (judged > 0)
    scores = np.divide(totals, judged, out=np.full(totals.shape, np.nan), where=tested[:, np.newaxis, :]).round(DIGITS)
    whole = np.broadcast_to(scores[0, :, -1:], scores.shape)
    found = taus(scores.reshape(-1, runs), whole.reshape(-1, runs)).reshape(2, len(chooses), len(sizes))
    shares = [float(np.minimum(nuggets, size).sum() / nuggets.sum()) for size in sizes]
    return [
        ShortBank(size, share, *(interval(of_order[:, at]) for of_order in found))
        for at, (size, share) in enumerate(zip(sizes.tolist(), shares, strict=True))
    ]


def _halves(runs: int, splits: int, draw: "np.random.Generator") -> npt.NDArray[np.bool_]:
    """Return which runs choose: (2 * splits, runs), each half and then the other."""
    first = draw.permuted(np.tile(np.arange(runs), (splits, 1)), axis=1) < runs // 2
    halves: npt.NDArray[np.bool_] = np.concatenate([first, ~first])
    return halves


def _correlations(values: Figures, chooses: npt.NDArray[np.bool_]) -> Figures:
    """Return the item-rest correlations by each set of runs: (sets, nuggets), _UNDEFINED where it is so.

    values: (runs, nuggets); chooses: (sets, runs), judged ones alone.
    """
    if values.shape[1] < 2:
        return np.full((len(chooses), values.shape[1]), _UNDEFINED)
    weights = chooses / np.maximum(chooses.sum(axis=1, keepdims=True), 1)
    rest = _rest(values)
    mean, mean_rest = weights @ values, weights @ rest
    together = weights @ (values * rest) - mean * mean_rest
    spreads = [weights @ one**2 - of**2 for one, of in ((values, mean), (rest, mean_rest))]
    defined = (spreads[0] > _SAME) & (spreads[1] > _SAME)
    found: Figures = np.divide(
        together,
        np.sqrt(np.where(defined, spreads[0] * spreads[1], 1)),
        out=np.full(mean.shape, _UNDEFINED),
        where=defined,
    )
    return found.round(DIGITS)


def _means_of_first(values: Figures, order: npt.NDArray[np.intp], sizes: npt.NDArray[np.intp]) -> Figures:
    """Return the mean value of the first nuggets of each order, by how many: (orders, sizes, runs)."""
    numbers = np.minimum(sizes, values.shape[1])
    place = np.argsort(order, axis=1)  # of each nugget
    is_first = place[:, np.newaxis, :] < numbers[:, np.newaxis]
    # As a product of matrices it takes a third of the time of sums along each order.
    means: Figures = is_first / numbers[:, np.newaxis] @ values.T
    return means


def _judged(values: npt.ArrayLike) -> Figures:
    """Return the answers with all labels. Raises ValueError where these are no table, or no values from 0 to 1."""
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 2:
        raise ValueError("values are of answers and nuggets")
    if ((given < 0) | (given > 1)).any():
        raise ValueError("values lie between 0 and 1")
    judged: Figures = given[~np.isnan(given).any(axis=1)]
    return judged


def _rest(values: Figures) -> Figures:
    """Return the mean of the other nuggets, of each answer and nugget; NaN where there is no other."""
    others = values.shape[1] - 1
    if not others:
        return np.full(values.shape, np.nan)
    # Rounded, so that rests of the same labels are equal.
    rest: Figures = ((values.sum(axis=1, keepdims=True) - values) / others).round(DIGITS)
    return rest
