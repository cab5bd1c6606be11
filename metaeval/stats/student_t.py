"""Student's t distribution, without scipy: to load that takes longer than to test ten thousand pairs."""

import math

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import Figures

_STEPS = 500  # of the fraction, at most: some tens are enough for hundreds of degrees of freedom
_EXACT = 1e-15
_TINY = 1e-300  # in place of 0, by which nothing can be divided


def two_sided_p(t: Figures, freedom: npt.NDArray[np.int64]) -> Figures:
    """Return the probability of values at least as far from 0 as t. freedom: degrees of freedom, as many whole numbers.

    It is the regularized incomplete beta function of freedom / (freedom + t^2) with freedom / 2 and 1 / 2, by its
    continued fraction (DLMF 8.17.22) as Lentz evaluates it. Right to 1e-13 of it.
    """
    half = freedom / 2
    outside = 1 / (1 + t**2 / freedom)
    inside = 1 / (1 + freedom / np.maximum(t**2, _TINY))
    power = np.exp(-half * np.log1p(t**2 / freedom))
    factor = power * np.sqrt(inside / math.pi) * _gamma_ratios(int(freedom.max(initial=1)))[freedom]
    # Of the fraction and its complement, the one that converges fast.
    is_turned = outside > (half + 1) / (half + 2.5)
    a, b = np.where(is_turned, 0.5, half), np.where(is_turned, half, 0.5)
    part: Figures = factor * _fraction(a, b, np.where(is_turned, inside, outside)) / a
    found: Figures = np.where(is_turned, 1 - part, part)
    return found


def _gamma_ratios(most: int) -> Figures:
    """Return gamma((n + 1) / 2) / gamma(n / 2) for n from 0 to the most: two of them in turn multiply to n / 2."""
    found = [0.0, 1 / math.sqrt(math.pi), math.sqrt(math.pi) / 2]
    for n in range(3, most + 1):
        found.append(found[n - 2] * (n - 1) / (n - 2))
    return np.array(found)


def _fraction(a: Figures, b: Figures, x: Figures) -> Figures:
    """Return the continued fraction of the incomplete beta function of x with a and b."""
    c, d = np.ones(x.shape), 1 / _not_zero(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _STEPS):
        for by in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            c, d = _not_zero(1 + by / c), 1 / _not_zero(1 + by * d)
            found = found * c * d
        if (np.abs(c * d - 1) < _EXACT).all():
            break
    return found


def _not_zero(values: Figures) -> Figures:
    return np.where(np.abs(values) < _TINY, _TINY, values)
