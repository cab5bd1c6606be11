"""Whether two conditions tell the same pairs of runs apart.

For each pair of runs and each condition: the sign of the difference of means, and whether a paired two-sided t-test
over topics calls it significant (no correction for the number of pairs).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.levels import pair_scores
from metaeval.stats.means import DIGITS, Figures
from metaeval.stats.statistic import Statistic, undefined

ALPHA = 0.05


class PairAgreement(NamedTuple):
    """How often two conditions agree on a pair of runs.

    Active: both find it significant; mixed: one does; passive: none does. Agreement: the differences have the same
    sign; disagreement: they have not (a difference of 0 has the sign of no other).
    """

    active_agreements: int
    active_disagreements: int
    mixed_agreements: int
    mixed_disagreements: int
    passive_agreements: int
    passive_disagreements: int

    @property
    def active(self) -> Statistic:
        """The share of active pairs on which they agree (PAA)."""
        return _share(self.active_agreements, self.active_disagreements, "no pair is significant in both")

    @property
    def passive(self) -> Statistic:
        """The share of passive pairs on which they agree (PPA)."""
        return _share(self.passive_agreements, self.passive_disagreements, "each pair is significant in one or both")


def pair_agreement(
    first_difference: npt.ArrayLike,
    first_significant: npt.ArrayLike,
    second_difference: npt.ArrayLike,
    second_significant: npt.ArrayLike,
) -> PairAgreement:
    """Count how two conditions agree on pairs of runs; four arrays (pairs,)."""
    same = np.sign(np.asarray(first_difference)) == np.sign(np.asarray(second_difference))
    found = np.asarray(first_significant, dtype=int) + np.asarray(second_significant, dtype=int)
    return PairAgreement(
        *(int(((found == both) & side).sum()) for both in (2, 1, 0) for side in (same, ~same)),
    )


def significance_agreement(first: npt.ArrayLike, second: npt.ArrayLike, alpha: float = ALPHA) -> PairAgreement:
    """Count how two conditions agree on all pairs of runs, tested at the level alpha.

    first, second: (runs, topics), NaN where a cell does not count. A pair of runs is tested on the topics where both
    runs count; one with fewer than two such topics is left out.
    """
    x, y = pair_scores(first, second)
    pairs = np.triu_indices(len(x), 1)
    (first_mean, first_p, topics), (second_mean, second_p, _) = (
        [found[pairs] for found in test_pairs(scores)] for scores in (x, y)
    )
    counts = topics >= 2
    return pair_agreement(first_mean[counts], first_p[counts] < alpha, second_mean[counts], second_p[counts] < alpha)


def test_pairs(scores: Figures) -> tuple[Figures, Figures, Figures]:
    """Return the mean difference of each pair of runs, its p-value, and the number of topics: each (runs, runs).

    scores: (runs, topics), NaN where a cell does not count. A paired two-sided t-test over the topics where both runs
    count, without a correction; with fewer than two such topics its p-value says nothing.
    """
    from scipy import special  # a process that tests nothing does not load it

    there = (~np.isnan(scores)).astype(np.float64)
    given = np.where(there, scores, 0)
    topics = there @ there.T
    size = np.maximum(topics, 2)
    sums = given @ there.T
    squares = given**2 @ there.T
    mean = np.round((sums - sums.T) / size, DIGITS)
    variance = (squares + squares.T - 2 * given @ given.T - size * mean**2) / (size - 1)
    # Equal differences on all topics: certain if they are not 0.
    error = np.sqrt(np.maximum(variance, 0) / size)
    t = np.divide(np.abs(mean), error, out=np.where(mean == 0, 0, np.inf), where=error > 0)
    return mean, 2 * special.stdtr(size - 1, -t), topics


def _share(agreements: int, disagreements: int, why: str) -> Statistic:
    n = agreements + disagreements
    return Statistic(agreements / n, n) if n else undefined(0, why)
