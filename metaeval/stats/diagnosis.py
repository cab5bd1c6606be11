"""Why two sides disagree on a topic: where their labels differ, and on which nuggets tau of the runs rests.

The values of a side are an array (runs, nuggets): what each label counts. Leaving a nugget out, on both sides, shows
how far tau rests on it. Nothing here tells what tau would be had a label been another one: that would invite changing
people's labels towards a model's.
"""

import re
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.correlation import kendall_tau, taus
from metaeval.stats.means import DIGITS, Figures
from metaeval.stats.statistic import Statistic, undefined

LENGTHS = ("short", "middle", "long")
MOST = 3  # nuggets on which a flip is looked for
NO_WEIGHT = "no weight in this measure"
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|nor|neither|without|cannot)\b|n['\u2019]t\b", re.IGNORECASE
)
_DIGIT = re.compile(r"\d")


class Part(NamedTuple):
    """The nuggets of one level of a feature, and the labels of both sides on them.

    labels: those that both gave; differ: those that are not equal; means of values, difference: the first less the
    second. contribution: of the part to the mean difference over all labels; the parts' sum to it.
    """

    level: str
    nuggets: int
    labels: int
    differ: int
    first: Statistic
    second: Statistic
    difference: Statistic
    contribution: Statistic


class Influence(NamedTuple):
    """A nugget's part in tau. tau: without it, on both sides; change: that less tau with all nuggets.

    flips: the pairs of runs in opposite orders on both sides that rest on it alone.
    """

    tau: Statistic
    change: Statistic
    flips: int


class Flips(NamedTuple):
    """Pairs of runs that both sides order oppositely, and how many of them rest on 1, 2 ... MOST nuggets, not fewer.

    A flip rests on the fewest nuggets without which, on both sides, the two are in opposite orders no longer.
    """

    pairs: int
    resting_on: list[int]

    @property
    def on_few(self) -> int:
        """How many rest on MOST nuggets or fewer."""
        return sum(self.resting_on)


def has_negation(text: str) -> bool:
    """Say whether a text has an English word of negation."""
    return bool(_NEGATION.search(text))


def has_number(text: str) -> bool:
    """Say whether a text has a digit."""
    return bool(_DIGIT.search(text))


def length_thirds(words: npt.ArrayLike) -> list[str]:
    """Return the third of LENGTHS that each text is in, by its words: up to the first, the second tertile, above."""
    given = np.asarray(words, dtype=np.float64)
    if not given.size:
        return []
    tertiles = np.quantile(given, [1 / 3, 2 / 3])
    return [LENGTHS[at] for at in np.searchsorted(tertiles, given)]


def decompose(first: npt.ArrayLike, second: npt.ArrayLike, levels: Sequence[str]) -> list[Part]:
    """Split the mean difference of values by a feature of nuggets.

    first, second: (runs, nuggets), NaN where a side has no label, so that the pair does not count. levels: the level of
    each nugget, such as "vital"; parts come in the order in which these occur. Raises ValueError where they don't fit.
    """
    x, y = _both(first, second)
    if len(levels) != x.shape[1]:
        raise ValueError(f"{len(levels)} levels don't fit {x.shape[1]} nuggets")
    total = int((~np.isnan(x)).sum())
    of_nugget = np.array(levels, dtype=object)
    parts = []
    for level in dict.fromkeys(levels):
        at = of_nugget == level
        one, other = x[:, at], y[:, at]
        there = ~np.isnan(one)
        labels, differ = int(there.sum()), int((one != other)[there].sum())
        sums = [float(side[there].sum()) for side in (one, other)]
        means = [_share(one, labels) for one in (*sums, sums[0] - sums[1])]
        parts.append(
            Part(level, int(at.sum()), labels, differ, means[0], means[1], means[2], _share(sums[0] - sums[1], total))
        )
    return parts


def _share(one: float, of: int) -> Statistic:
    return Statistic(one / of, of) if of else undefined(0, "no labels of both")


def topic_tau(first: npt.ArrayLike, second: npt.ArrayLike, weights: npt.ArrayLike) -> Statistic:
    """Return tau-b of the runs on a topic, by weighted means of values. The arguments are those of leave_one_out()."""
    x, y, of_nugget = _weighted(first, second, weights)
    return _taus(x, y, of_nugget[np.newaxis])[0]


def leave_one_out(first: npt.ArrayLike, second: npt.ArrayLike, weights: npt.ArrayLike) -> list[Influence]:
    """Return the influence of each nugget on tau-b of the runs on a topic.

    first, second: values (runs, nuggets), a run with NaN on either side does not count; weights: of the nuggets in the
    mean that is a run's score. A nugget without weight has no influence: undefined, with that reason.
    """
    x, y, of_nugget = _weighted(first, second, weights)
    without = np.where(np.eye(len(of_nugget), dtype=bool), 0, of_nugget)
    whole, *of_others = _taus(x, y, np.vstack([of_nugget, without]))
    differences = _opposite_pairs(x, y, of_nugget)
    found = []
    for at, (weight, tau) in enumerate(zip(of_nugget.tolist(), of_others, strict=True)):
        if not weight:
            found.append(Influence(undefined(len(x), NO_WEIGHT), undefined(len(x), NO_WEIGHT), 0))
            continue
        why = tau.why or whole.why
        change = undefined(tau.n, why) if why else Statistic((tau.value or 0) - (whole.value or 0), tau.n)
        found.append(Influence(tau, change, int((~_are_opposite(differences, [at])).sum())))
    return found


def _taus(x: Figures, y: Figures, weights: Figures) -> list[Statistic]:
    """Return tau-b of the runs by each row of weights: all at once and without scipy, which takes long to load."""
    first, second = (np.array([_scores(side, row) for row in weights]) for side in (x, y))
    found = zip(first, second, taus(first, second).tolist(), strict=True)
    return [kendall_tau(one, other) if np.isnan(tau) else Statistic(tau, len(one)) for one, other, tau in found]


def find_flips(first: npt.ArrayLike, second: npt.ArrayLike, weights: npt.ArrayLike) -> Flips:
    """Count the pairs of runs in opposite orders, by the fewest nuggets on which they rest: all sets up to MOST.

    The arguments are those of leave_one_out().
    """
    x, y, of_nugget = _weighted(first, second, weights)
    differences = _opposite_pairs(x, y, of_nugget)
    pairs, resting_on = differences.shape[2], []
    for size in range(1, MOST + 1):
        still = np.ones(differences.shape[2], dtype=bool)
        for some in combinations(np.flatnonzero(of_nugget).tolist(), size):
            still &= _are_opposite(differences, some)
        resting_on.append(int((~still).sum()))
        differences = differences[:, :, still]
    return Flips(pairs, resting_on)


def _opposite_pairs(x: Figures, y: Figures, weights: Figures) -> Figures:
    """Return the weighted differences of the pairs of runs that are in opposite orders: (sides, nuggets, pairs).

    A side's sum over nuggets has the sign of the difference of the two scores.
    """
    one, other = np.triu_indices(len(x), 1)
    differences = np.stack([((side[one] - side[other]) * weights).T for side in (x, y)])
    opposite: Figures = differences[:, :, _are_opposite(differences, [])]
    return opposite


def _are_opposite(differences: Figures, without: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Say of each pair of runs whether the sides order it oppositely without some nuggets."""
    left = differences.sum(axis=1) - differences[:, list(without)].sum(axis=1)
    signs = np.sign(left.round(DIGITS))
    opposite: npt.NDArray[np.bool_] = signs[0] * signs[1] < 0
    return opposite


def _scores(values: Figures, weights: Figures) -> Figures:
    if not weights.any():
        return np.zeros(len(values))
    # As levels.run_means() has it: what is equal to ten digits ties.
    scores: Figures = (values @ weights / weights.sum()).round(DIGITS)
    return scores


def _both(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Figures, Figures]:
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.ndim != 2 or x.shape != y.shape:
        raise ValueError(f"values are two tables of the same runs and nuggets, not {x.shape} and {y.shape}")
    lacks = np.isnan(x) | np.isnan(y)
    return np.where(lacks, np.nan, x), np.where(lacks, np.nan, y)


def _weighted(first: npt.ArrayLike, second: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[Figures, Figures, Figures]:
    """Return the runs that have all labels on both sides. Raises ValueError where the shapes don't fit."""
    x, y = _both(first, second)
    of_nugget = np.asarray(weights, dtype=np.float64)
    if of_nugget.shape != x.shape[1:] or (of_nugget < 0).any():
        raise ValueError(f"weights are {x.shape[1]} numbers from 0, one for each nugget")
    there = ~np.isnan(x).any(axis=1)
    return x[there], y[there], of_nugget
