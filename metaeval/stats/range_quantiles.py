"""Quantiles of the studentized range, of many degrees of freedom at once.

scipy.stats.studentized_range takes 0.3 seconds for each: too long for a curve.
"""

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import Figures

_WIDEST = 20.0  # ranges of up to 10,000 normal variables lie below
_RANGES = np.linspace(0, _WIDEST, 401)
_VALUES = np.linspace(-9, 9, 241)
_HALVINGS = 50


def studentized_range(confidence: float, groups: int, degrees: npt.ArrayLike) -> Figures:
    """Return the quantiles of the range of so many standard normal variables over an independent s, by the degrees.

    degrees: of freedom of s, at least 1; an array of any shape. Right to 0.0001. Raises
    ValueError for fewer than two groups.
    """
    from scipy import interpolate, special

    if groups < 2:
        raise ValueError("a range is of two groups or more")
    of_range = interpolate.CubicSpline(_RANGES, _range_distribution(groups))
    freedom = np.asarray(degrees, dtype=np.float64)[..., np.newaxis]
    nodes, weights = np.polynomial.legendre.leggauss(100)
    s = np.sqrt(special.gammaincinv(freedom / 2, (nodes + 1) / 2) * 2 / freedom)
    low, high = np.zeros(freedom.shape[:-1]), np.full(freedom.shape[:-1], 10 * _WIDEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = of_range(np.minimum(middle[..., np.newaxis] * s, _WIDEST)) @ weights / 2 < confidence
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def _range_distribution(groups: int) -> Figures:
    """Return the probability that so many standard normal variables lie within each of _RANGES."""
    from scipy import special

    # The least variable lies at v, all others within the range above it.
    within = special.ndtr(_VALUES + _RANGES[:, np.newaxis]) - special.ndtr(_VALUES)
    density = np.exp(-(_VALUES**2) / 2) / np.sqrt(2 * np.pi)
    found: Figures = groups * (density * within ** (groups - 1)).sum(axis=1) * (_VALUES[1] - _VALUES[0])
    return found
