"""Which pairs of runs differ, when all pairs are tested: paired t-tests with corrections, and Tukey's HSD.

In p-values of all pairs, in the order of numpy.triu_indices: of runs 0 and 1, 0 and 2, and so on. Each is adjusted for
the number of pairs, so a pair differs at the level alpha if it is at most alpha.
"""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats import studentized_range
from metaeval.stats.letters import grouping_letters
from metaeval.stats.means import DIGITS, Figures, mean
from metaeval.stats.significance import ALPHA, test_pairs

DRAWS = 100_000
_CELLS_AT_A_TIME = 2**18  # of permuted scores: 2 MB, which stay near the processor


class Method(StrEnum):
    """How pairs are tested: paired t-tests without a correction and with two, and Tukey's HSD in two forms."""

    T = "t"
    HOLM = "holm"
    BH = "bh"
    TUKEY = "tukey"
    RANDOMISED = "randomised"


class HonestDifference(NamedTuple):
    """Tukey's honestly significant difference: the least one of means that is significant, with all pairs' p-values.

    q: the quantile of the studentized range, or None of the randomised test, which has draws instead.
    """

    least: float
    p: Figures
    q: float | None = None
    draws: int = 0


class TukeyGroups(NamedTuple):
    """Tukey's HSD with the groups of each run, as letters.grouping_letters() numbers them."""

    least: float
    groups: list[list[int]]


class PairTests(NamedTuple):
    """All pairs of runs, tested by several methods.

    means: (runs,). difference: of each pair, the first run's mean minus the second's, over the topics that count for
    both, and their number: (pairs,) each. p: by method, NaN where two runs have fewer than two topics in common; the
    methods that need a complete layout are absent without one.
    """

    means: Figures
    difference: Figures
    topics: npt.NDArray[np.int64]
    p: Mapping[Method, Figures]
    tukey: HonestDifference | None
    randomised: HonestDifference | None

    @property
    def pairs(self) -> int:
        """How many pairs are tested."""
        return int((~np.isnan(self.p[Method.T])).sum())

    def differing(self, method: Method, alpha: float = ALPHA) -> int:
        """Count the pairs that differ."""
        return int((self.p[method] <= alpha).sum())

    def letters(self, method: Method, alpha: float = ALPHA) -> list[list[int]]:
        """Return the groups of each run, as letters.grouping_letters() numbers them."""
        differ = np.zeros((len(self.means),) * 2, dtype=bool)
        differ[np.triu_indices(len(self.means), 1)] = self.p[method] <= alpha
        return grouping_letters(self.means, differ | differ.T)


def compare_pairs(scores: npt.ArrayLike, *, draws: int, seed: int, alpha: float = ALPHA) -> PairTests:
    """Test all pairs of runs by all methods. scores: (runs, topics), NaN where a cell does not count.

    draws: permutations of the randomised test, seeded; 0 leaves it out. With NaN in it a layout is incomplete, and
    only the t-tests are there, each over the topics that both runs have.
    """
    cells = np.asarray(scores, dtype=np.float64)
    pairs = np.triu_indices(len(cells), 1)
    difference, p, topics = (found[pairs] for found in test_pairs(cells))
    tested = np.where(topics >= 2, p, np.nan)
    found = {Method.T: tested, Method.HOLM: holm(tested), Method.BH: benjamini_hochberg(tested)}
    tukey = randomised = None
    if is_complete(cells):
        tukey = tukey_hsd(cells, alpha)
        found[Method.TUKEY] = tukey.p
        if draws:
            randomised = randomised_tukey_hsd(cells, draws=draws, seed=seed, alpha=alpha)
            found[Method.RANDOMISED] = randomised.p
    return PairTests(mean(cells, axis=1), difference, topics.astype(np.int64), found, tukey, randomised)


def is_complete(scores: Figures) -> bool:
    """Whether a layout (runs, topics) has two of both, and no cell is missing."""
    return min(scores.shape) >= 2 and not np.isnan(scores).any()


def holm(p: Figures) -> Figures:
    """Return p-values with Holm's correction (1979), which holds the chance of any error; NaN stays and counts not."""
    order, size = _from_least(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(size, 0, -1))
    return _put_back(p, order, stepped)


def benjamini_hochberg(p: Figures) -> Figures:
    """Return p-values with the correction of Benjamini and Hochberg (1995), which holds the share of false findings.

    NaN stays and counts not.
    """
    order, size = _from_least(p)
    stepped = np.minimum.accumulate((p[order] * size / np.arange(1, size + 1))[::-1])[::-1]
    return _put_back(p, order, stepped)


def _from_least(p: Figures) -> tuple[npt.NDArray[np.intp], int]:
    size = int((~np.isnan(p)).sum())
    return np.argsort(p, kind="stable")[:size], size  # NaN comes last


def _put_back(p: Figures, order: npt.NDArray[np.intp], adjusted: Figures) -> Figures:
    found = np.full(p.shape, np.nan)
    found[order] = np.minimum(adjusted, 1)
    return found


def tukey_hsd(scores: npt.ArrayLike, alpha: float = ALPHA) -> HonestDifference:
    """Return Tukey's HSD of the two-way layout without interaction: q * sqrt(MSe / topics).

    scores: (runs, topics), complete. MSe is the mean square of the residuals from run and topic means, with
    (runs - 1)(topics - 1) degrees of freedom. Raises ValueError for an incomplete layout.
    """
    cells = _complete(scores)
    error, q = _tukey(cells, alpha)
    distance = _distances(cells.mean(axis=1))
    if not error:
        # Differences are equal on all topics: certain if they are not 0.
        return HonestDifference(0.0, np.where(distance > 0, 0.0, 1.0), q)
    p = studentized_range.tail(distance / error, len(cells), _freedom(cells))
    return HonestDifference(q * error, p, q)


def tukey_groups(scores: npt.ArrayLike, alpha: float = ALPHA) -> TukeyGroups:
    """Return Tukey's HSD, as tukey_hsd() does and sooner, with the groups of runs that it does not tell apart."""
    cells = _complete(scores)
    error, q = _tukey(cells, alpha)
    means = cells.mean(axis=1).round(DIGITS)
    return TukeyGroups(q * error, grouping_letters(means, np.abs(means[:, np.newaxis] - means) > q * error))


def _tukey(cells: Figures, alpha: float) -> tuple[float, float]:
    """Return the standard error of a mean in the two-way layout, and q; the error is 0 where rounding is all of it."""
    residuals = cells - cells.mean(axis=1)[:, np.newaxis] - cells.mean(axis=0) + cells.mean()
    error = math.sqrt(float((residuals**2).sum()) / _freedom(cells) / cells.shape[1])
    q = float(studentized_range.critical_value(alpha, len(cells), _freedom(cells)))
    return (error if error > 10.0**-DIGITS else 0.0), q


def _freedom(cells: Figures) -> int:
    return int((len(cells) - 1) * (cells.shape[1] - 1))


def randomised_tukey_hsd(
    scores: npt.ArrayLike, *, draws: int = DRAWS, seed: int, alpha: float = ALPHA
) -> HonestDifference:
    """Return the HSD of a randomisation test (Carterette, TOIS 2012), which assumes no distribution.

    scores: (runs, topics), complete. In each draw the scores of each topic are permuted over the runs, by itself, and
    q* is the largest mean of a run minus the smallest; a pair's p = (1 + #{q* >= |difference|}) / (draws + 1), and a
    pair differs if it is further apart than the least difference. More conservative than tukey_hsd(): differences of
    runs are in what is permuted. Memory does not grow with the number of draws, but for 8 bytes each. Raises ValueError
    for an incomplete layout, and without draws.
    """
    return randomised_tukey_hsds([scores], draws=draws, seed=seed, alpha=alpha)[0]


def randomised_tukey_hsds(
    layouts: Sequence[npt.ArrayLike], *, draws: int, seed: int, alpha: float = ALPHA
) -> list[HonestDifference]:
    """Return the same for each of some layouts, all (runs, topics) of one shape, in less time than one by one.

    A seed permutes them all alike.
    """
    cells = [_complete(scores) for scores in layouts]
    if draws < 1:
        raise ValueError("a randomised test needs draws")
    by_topic = [np.ascontiguousarray(scores.T) for scores in cells]
    is_one = len(cells) == 1
    # To permute places and look scores up there takes longer for one layout, but a fifth as long for each more.
    permuted_alike = by_topic[0] if is_one else np.arange(cells[0].size).reshape(by_topic[0].shape)
    chance = np.random.default_rng(seed)
    at_a_time = max(1, _CELLS_AT_A_TIME // cells[0].size)
    spans: list[list[Figures]] = [[] for _ in cells]
    for start in range(0, draws, at_a_time):
        size = min(at_a_time, draws - start)
        permuted = chance.permuted(np.broadcast_to(permuted_alike, (size, *permuted_alike.shape)), axis=2)
        for scores, of_layout in zip(by_topic, spans, strict=True):
            drawn = permuted if is_one else scores.ravel()[permuted]
            of_layout.append(np.ptp(drawn.mean(axis=1), axis=1))
    return [_randomised(*of_layout, draws, alpha) for of_layout in zip(cells, map(np.concatenate, spans), strict=True)]


def _randomised(cells: Figures, spans: Figures, draws: int, alpha: float) -> HonestDifference:
    """Return the HSD by the spans of means that were drawn."""
    # Rounded, since sums in another order differ in the last digits.
    largest_last = np.sort(spans.round(DIGITS))
    distance = _distances(cells.mean(axis=1))
    exceeding = draws - np.searchsorted(largest_last, distance, side="left")
    # Significant is what at most this many spans, less one, reach.
    allowed = math.floor(alpha * (draws + 1))
    least = float(largest_last[-allowed]) if allowed else math.inf
    return HonestDifference(least, (1 + exceeding) / (draws + 1), draws=draws)


def _complete(scores: npt.ArrayLike) -> Figures:
    cells = np.asarray(scores, dtype=np.float64)
    if not is_complete(cells):
        raise ValueError("an HSD needs two runs and two topics at least, and a score in each cell")
    return cells


def _distances(means: Figures) -> Figures:
    one, other = np.triu_indices(len(means), 1)
    return np.asarray(np.abs(means[one] - means[other]).round(DIGITS))


def discriminative_power(p: npt.ArrayLike, levels: npt.ArrayLike) -> Figures:
    """Return the share of pairs that differ at each level: (levels,), NaN without pairs.

    p: the pairs' p-values, NaN where one is not tested. The achieved levels of all pairs, as Sakai (SIGIR 2006) draws
    them, with the axes exchanged.
    """
    tested = np.asarray(p, dtype=np.float64)
    tested = np.sort(tested[~np.isnan(tested)])
    found = np.searchsorted(tested, np.asarray(levels, dtype=np.float64), side="right")
    return found / len(tested) if len(tested) else np.full(found.shape, np.nan)
