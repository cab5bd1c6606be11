"""The studentized range: the range of independent normal variables over an independent estimate of their deviation.

The double integral of Tukey's distribution (as in Copenhaver and Holland, 1988), by the trapezoidal rule, which is
exact to many digits for such integrands. scipy.stats has the same distribution, but takes 10 ms for each value, and
half a second to load.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import Figures

_NORMAL = np.linspace(-8.0, 8.0, 101)  # standard normal values with all of the mass that counts
_RANGES = np.linspace(0.0, 20.0, 10_001)  # at which the range's distribution is computed
_STEPS = 80  # of _RANGES to one of _NORMAL, so that what lies a range below such a value is on one grid
_FEW_DEGREES = 10  # of freedom: the fewer, the wider the estimated deviation spreads
_NODES, _MORE_NODES = 64, 200  # of that deviation; with few degrees
_NEGLIGIBLE = 34.0  # a density is this far below its highest, in natural logarithms
_HALVINGS = 60


def tail(q: npt.ArrayLike, groups: int, freedom: npt.ArrayLike) -> Figures:
    """Return the probability that the studentized range of so many groups is larger than q.

    freedom: degrees of freedom of the deviation; q and freedom are of any shapes that go together. Right to 1e-6.
    Raises ValueError for fewer than two groups or less than a degree of freedom.
    """
    degrees = np.asarray(freedom, dtype=np.float64)[..., np.newaxis]
    if groups < 2 or (degrees < 1).any():
        raise ValueError("a studentized range needs two groups and a degree of freedom")
    values = np.asarray(q, dtype=np.float64)[..., np.newaxis]
    # s = exp(x) has the density of sqrt(chi2 / freedom).
    reach = _NEGLIGIBLE / degrees
    steps = np.linspace(0.0, 1.0, _MORE_NODES if (degrees < _FEW_DEGREES).any() else _NODES)
    x = (reach + 2 * np.sqrt(reach)) * steps - reach - np.sqrt(reach)
    weights = np.exp(degrees * (x - np.expm1(2 * x) / 2))
    tails = np.interp(values * np.exp(x), _RANGES, _range_tail(groups))
    return np.asarray((tails * weights).sum(axis=-1) / weights.sum(axis=-1))


def critical_value(alpha: float, groups: int, freedom: npt.ArrayLike) -> Figures:
    """Return what the studentized range exceeds with probability alpha, by degrees of freedom: an array as these.

    Raises ValueError as tail() does.
    """
    low, high = np.zeros(np.shape(freedom)), np.ones(np.shape(freedom))
    while (tail(high, groups, freedom) > alpha).any():
        high = high * 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_below = tail(middle, groups, freedom) > alpha
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return np.asarray((low + high) / 2)


@lru_cache(maxsize=16)
def _range_tail(groups: int) -> Figures:
    """Return the probability that the range of so many standard normal values is larger than each of _RANGES."""
    density = np.exp(-(_NORMAL**2) / 2) / math.sqrt(2 * math.pi) * (_NORMAL[1] - _NORMAL[0])
    # Without scipy, which takes longer to load than all of this.
    grid = np.linspace(_NORMAL[0] - _RANGES[-1], _NORMAL[-1], len(_RANGES) + _STEPS * (len(_NORMAL) - 1))
    below = np.array([math.erfc(-z / math.sqrt(2)) / 2 for z in grid.tolist()])
    at = len(_RANGES) - 1 + _STEPS * np.arange(len(_NORMAL))
    # The largest is at z, and all others are between z - w and z.
    within = [
        groups * (below[at] - below[at - part[:, np.newaxis]]) ** (groups - 1) @ density
        for part in np.array_split(np.arange(len(_RANGES)), 20)
    ]
    found: Figures = np.clip(1 - np.concatenate(within), 0, 1)
    return found
