"""Correlation of two rankings: functions on the scores that two conditions give the same things.

Scores are arrays of one number for each run (or cell), higher is better, both in the same order. Where either is NaN,
the pair is left out; n is the number of pairs left.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import Figures
from metaeval.stats.statistic import Statistic, undefined

Places = npt.NDArray[np.unsignedinteger]
TOO_FEW = "fewer than two values"
CONSTANT = "all values of one side are equal"  # as files have it


class Overlap(NamedTuple):
    """Rank-biased overlap of two rankings of equal depth.

    extrapolated: as if they went on as they are, the usual value; least: if they had nothing more in common; truncated:
    the sum over the depths that are there, without what follows.
    """

    extrapolated: Statistic
    least: Statistic
    truncated: Statistic


class Drop(NamedTuple):
    """The largest loss of places; place: of the run that has it, in the arrays; 0 places and None if none loses any."""

    places: Statistic
    place: int | None


def kendall_tau(first: npt.ArrayLike, second: npt.ArrayLike) -> Statistic:
    """Return Kendall's tau-b. Undefined where either is constant."""
    x, y = _both(first, second)
    if undefined_as := _unless_constant(x, y):
        return undefined_as
    [concordance], [of_x], [of_y] = _pairs(x[np.newaxis], y[np.newaxis])
    # To the last digit as scipy.stats has it, which takes half a second to load.
    return Statistic(float(np.clip(concordance / np.sqrt(of_x) / np.sqrt(of_y), -1, 1)), len(x))


def taus(first: Figures, second: Figures) -> Figures:
    """Return the tau-b of each row of scores: (rows,), NaN where undefined.

    first, second: (rows, runs), NaN in the same places of both. Takes the time of all pairs of runs, but memory
    for a few times the scores alone.
    """
    return tau(*_pairs(first, second))


def _pairs(first: Figures, second: Figures) -> tuple[Figures, Figures, Figures]:
    """Return of each row how many more pairs are concordant than discordant, and how many don't tie on each side."""
    x, y = _row_places(first), _row_places(second)
    runs, lacking = len(x), (x == 0).sum(axis=0)
    concordance = np.zeros(x.shape[1])
    for at in range(runs - 1):
        concordance += (_signs(x[at + 1 :], x[at]) * _signs(y[at + 1 :], y[at])).sum(axis=0, dtype=np.int32)
    # What is lacking stands last on both sides, and so in the same order with all others: these pairs are none.
    return concordance - lacking * (runs - lacking), _untied(x), _untied(y)


def leading_taus(first: Figures, second: Figures) -> Figures:
    """Return the tau-b of the first runs of each row, for each number of them from 1 on: (rows, runs).

    first, second: (rows, runs), without NaN. Undefined taus are NaN.
    """
    x, y = _row_places(first), _row_places(second)
    counts = np.zeros((3, *x.shape))  # of the pairs of each run with those before it
    for at in range(1, len(x)):
        x_signs, y_signs = _signs(x[:at], x[at]), _signs(y[:at], y[at])
        for into, pairs in zip(counts, (x_signs * y_signs, x_signs & 1, y_signs & 1), strict=True):
            into[at] = pairs.sum(axis=0, dtype=np.int32)
    return tau(*counts.cumsum(axis=1)).T


def _row_places(scores: Figures) -> Places:
    """Return the place of each score among its row's, from the least on, ties alike; 0 for NaN: (runs, rows).

    Numbers of few bytes, as these are compared faster.
    """
    order = np.argsort(scores, axis=1)
    in_order = np.take_along_axis(scores, order, axis=1)
    steps = np.ones(scores.shape, dtype=np.min_scalar_type(scores.shape[1]))
    steps[:, 1:] = in_order[:, 1:] > in_order[:, :-1]
    places = np.empty_like(steps)
    np.put_along_axis(places, order, np.cumsum(steps, axis=1, dtype=steps.dtype), axis=1)
    places[np.isnan(scores)] = 0
    return np.ascontiguousarray(places.T)


def _untied(places: Places) -> Figures:
    """Count the pairs of a row that don't tie: (rows,)."""
    runs, rows = places.shape
    at = places + np.arange(rows) * (runs + 1)
    counts = np.bincount(at.ravel(), minlength=rows * (runs + 1)).reshape(rows, runs + 1)[:, 1:].astype(np.float64)
    untied: Figures = (counts.sum(axis=1) ** 2 - (counts**2).sum(axis=1)) / 2
    return untied


def _signs(scores: Places, other: Places) -> npt.NDArray[np.int8]:
    """Return how scores compare with another one: 1, 0, -1."""
    signs: npt.NDArray[np.int8] = (scores > other).view(np.int8) - (scores < other).view(np.int8)
    return signs


def tau(concordance: Figures, first: Figures, second: Figures) -> Figures:
    """Return tau-b from numbers of pairs: NaN where either has ties alone.

    concordance: concordant pairs less discordant ones; first, second: pairs that don't tie there.
    """
    untied = np.sqrt(first) * np.sqrt(second)
    found: Figures = np.divide(concordance, untied, out=np.full(untied.shape, np.nan), where=untied > 0)
    return np.clip(found, -1, 1)


def pearson(first: npt.ArrayLike, second: npt.ArrayLike) -> Statistic:
    """Return Pearson's correlation. Undefined where either is constant."""
    x, y = _both(first, second)
    return _unless_constant(x, y) or Statistic(float(np.corrcoef(x, y)[0, 1]), len(x))


def spearman(first: npt.ArrayLike, second: npt.ArrayLike) -> Statistic:
    """Return Spearman's correlation: Pearson's of the ranks, tied values sharing the mean of theirs."""
    return pearson(*map(_ranks, _both(first, second)))


def _ranks(values: Figures) -> Figures:
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Figures = (np.cumsum(sizes) - (sizes - 1) / 2)[group]
    return ranks


def tau_ap(reference: npt.ArrayLike, estimate: npt.ArrayLike) -> Statistic:
    """Return the AP rank correlation of an estimated ranking, which weighs differences at its top more.

    2 / (n - 1) * sum over the ranks i from 2 of the estimate of C(i) / (i - 1), less 1; C(i) counts what stands above i
    and rightly so (Yilmaz, Aslam, Robertson, SIGIR 2008). Not symmetric, and undefined where either has ties.
    """
    x, y = _both(reference, estimate)
    if len(np.unique(x)) < len(x) or len(np.unique(y)) < len(y):
        return undefined(len(x), "there are ties, for which the variants a and b are made")
    return tau_ap_a(x, y)


def tau_ap_a(reference: npt.ArrayLike, estimate: npt.ArrayLike) -> Statistic:
    """Return the mean of tau_ap over all orders of what ties in the estimate (Urbano and Marrero, ICTIR 2017).

    Undefined where the reference has ties, which here is the truth.
    """
    x, y = _both(reference, estimate)
    if len(x) < 2:
        return undefined(len(x), TOO_FEW)
    if len(np.unique(x)) < len(x):
        return undefined(len(x), "the reference has ties")
    above, is_right = _above(y), _above(x)
    higher = above.sum(axis=1)
    tied = (y == y[:, np.newaxis]).sum(axis=1)  # itself included
    # Each of `tied` ranks is as likely, and of what ties and stands above by chance a half is right.
    inverse = np.append(0, 1 / np.arange(1, len(x)))  # of the number of those above; the first rank counts nothing
    up_to = np.cumsum(inverse)
    shares = up_to[higher + tied - 1] - np.where(higher, up_to[higher - 1], 0)
    of_tied = np.where(higher, tied - higher * shares, tied - 1) / 2
    total = (((above & is_right).sum(axis=1) * shares + of_tied) / tied).sum()
    return Statistic(float(2 * total / (len(x) - 1) - 1), len(x))


def tau_ap_b(first: npt.ArrayLike, second: npt.ArrayLike) -> Statistic:
    """Return the symmetric AP correlation of two rankings that may both have ties (Urbano and Marrero, ICTIR 2017).

    The mean of both directions. In each, what ties stands at the first rank of its group and is compared with all above
    the group; the topmost group is compared with nothing. Undefined where either is constant.
    """
    x, y = _both(first, second)
    return _unless_constant(x, y) or Statistic(float((_tau_ap_one_way(x, y) + _tau_ap_one_way(y, x)) / 2), len(x))


def _tau_ap_one_way(reference: Figures, estimate: Figures) -> float:
    above = _above(estimate)
    higher = above.sum(axis=1)
    is_below = higher > 0
    right = (above & _above(reference)).sum(axis=1)
    return float(2 * (right[is_below] / higher[is_below]).mean() - 1)


def rbo(first: npt.ArrayLike, second: npt.ArrayLike, p: float = 0.9) -> Overlap:
    """Return the rank-biased overlap of two rankings; p (0 to 1) is how likely a reader goes on at each rank.

    first, second: scores, NaN for what a ranking does not have. Source: Webber, Moffat, Zobel, A Similarity Measure for
    Indefinite Rankings (2010): equations 7, 11 (least) and 30 (extrapolated), agreement at a depth with ties as in
    section 4.4 (all that tie at a depth are in it). Raises ValueError where the rankings differ in length or p is not
    between 0 and 1.
    """
    x, y = _same_shape(first, second)
    if not 0 < p < 1:
        raise ValueError(f"p lies between 0 and 1, and {p} does not")
    size = int((~np.isnan(x)).sum())
    if size != int((~np.isnan(y)).sum()):
        raise ValueError("the rankings differ in length")
    if not size:
        return Overlap(*[undefined(0, "the rankings are empty")] * 3)
    depths = np.arange(1, size + 1)
    in_first, in_second = (places(scores) <= depths[:, np.newaxis] for scores in (x, y))
    common = 2 * (in_first & in_second).sum(axis=1) / (in_first.sum(axis=1) + in_second.sum(axis=1))
    weights = p**depths
    truncated = (1 - p) / p * (common * weights).sum()
    # What all further depths add if nothing more is in common: the overlap that there is, in ever deeper rankings.
    overlap = common[-1] * size
    deeper = overlap * (-np.log1p(-p) - (weights / depths).sum())
    least = truncated + (1 - p) / p * deeper
    return Overlap(*(Statistic(float(one), size) for one in (truncated + common[-1] * weights[-1], least, truncated)))


def largest_drop(reference: npt.ArrayLike, alternative: npt.ArrayLike) -> Drop:
    """Return how many places the run that loses most by the alternative loses; ties share the best of their places."""
    x, y = _same_shape(reference, alternative)
    counts = ~(np.isnan(x) | np.isnan(y))
    if not counts.any():
        return Drop(undefined(0, "no values"), None)
    lost = np.where(counts, places(np.where(counts, y, np.nan)) - places(np.where(counts, x, np.nan)), 0)
    at = int(lost.argmax())
    return Drop(Statistic(float(lost[at]), int(counts.sum())), at if lost[at] else None)


def places(scores: Figures) -> npt.NDArray[np.int64]:
    """Return places from 1 for the best, ties sharing the best of theirs; NaN comes after all others."""
    in_order = np.sort(-scores[~np.isnan(scores)])
    return np.searchsorted(in_order, -scores).astype(np.int64) + 1


def _above(scores: Figures) -> npt.NDArray[np.bool_]:
    """Say for each (row) which ones (columns) have a higher score."""
    return scores > scores[:, np.newaxis]


def _same_shape(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Figures, Figures]:
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"scores are two lists of equal length, not {x.shape} and {y.shape}")
    return x, y


def _both(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Figures, Figures]:
    """Return the scores of what has one in both."""
    x, y = _same_shape(first, second)
    counts = ~(np.isnan(x) | np.isnan(y))
    return x[counts], y[counts]


def _unless_constant(x: Figures, y: Figures) -> Statistic | None:
    """Return why a correlation is undefined; None where it is not."""
    if len(x) < 2:
        return undefined(len(x), TOO_FEW)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return undefined(len(x), CONSTANT)
    return None
