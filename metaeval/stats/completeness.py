"""Completeness of nugget banks: how many nuggets there are at least, of which a bank has some. Functions on counts.

Each estimate is a lower bound in practice. All three take nuggets as equally easy to find; in fact important ones are
found by all makers, stated by many passages, and found first, so what is unseen is more than they say.
"""

from collections.abc import Iterable
from math import exp, log1p, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_Z = 1.959963984540054  # of a 95 % interval


class AtLeast(NamedTuple):
    """How many nuggets there are at least, with a 95 % interval; None where undefined, and why says why.

    seen: how many were found; variance: of the estimate, None where it is not known, and with it the interval.
    """

    total: float | None
    seen: int
    variance: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""


def not_estimated(seen: int, why: str) -> AtLeast:
    """Return that nothing can be said beyond the nuggets that were found."""
    return AtLeast(None, seen, why=why)


def chapman(first: int, second: int, both: int) -> AtLeast:
    """Return how many nuggets two independent makers leave at least, from how many each found and both found.

    (n1 + 1)(n2 + 1)/(m + 1) - 1 (Chapman 1951), with the variance of Seber (1970). Two makers who both find what is
    important find more in common than independent ones, which makes it too small. Undefined where they have nothing in
    common. Raises ValueError where they have more in common than one found.
    """
    if not 0 <= both <= min(first, second):
        raise ValueError(f"{both} nuggets can't be in lists of {first} and {second}")
    seen = first + second - both
    if not both:
        return not_estimated(seen, "the two have no nugget in common")
    one, other, shared = first + 1, second + 1, both + 1
    variance = one * other * (first - both) * (second - both) / (shared**2 * (shared + 1))
    return _at_least(one * other / shared - 1, seen, variance)


def chao2(passages: npt.ArrayLike, sampled: int) -> AtLeast:
    """Return how many nuggets passages state at least. passages: of each nugget, how many state it; sampled: of all.

    S + (t - 1)/t Q1(Q1 - 1)/(2(Q2 + 1)), bias-corrected, passages being the samples and Q1, Q2 the nuggets that one
    and two of them state (Chao 1987), with the variance of Colwell (EstimateS, appendix B). Undefined for fewer than
    two passages, and where some nuggets have one passage and none has two: then evidence names one passage of each
    nugget, and not all that state it. Raises ValueError for a nugget of no passage or of more than there are.
    """
    counts = np.asarray(passages, dtype=np.int64)
    if counts.ndim != 1 or (counts < 1).any() or (counts > sampled).any():
        raise ValueError(f"a nugget is stated by 1 to {sampled} passages")
    seen, once, twice = len(counts), int((counts == 1).sum()), int((counts == 2).sum())
    if sampled < 2:
        return not_estimated(seen, "fewer than two passages")
    if once and not twice:
        return not_estimated(seen, "no nugget has two passages as evidence, but some have one")
    share = (sampled - 1) / sampled
    unseen = share * once * (once - 1) / (2 * (twice + 1))
    variance = (
        unseen
        + share**2 * once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
        + share**2 * once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
    )
    return _at_least(seen + unseen, seen, variance)


def saturation(new: npt.ArrayLike) -> AtLeast:
    """Return how many nuggets further windows would bring at least. new: how many each window brought, in order.

    T/(1 - q^k), where each of k windows brings the same share 1 - q of what is left (the removal method of Moran 1951
    and Zippin 1956). Passages come by relevance, so later windows bring less by themselves, which makes it too small;
    it has no interval here. Undefined for fewer than three windows, and where new nuggets do not become fewer. Raises
    ValueError for counts below 0.
    """
    counts = np.asarray(new, dtype=np.int64)
    if counts.ndim != 1 or (counts < 0).any():
        raise ValueError("windows bring counts of nuggets")
    windows, seen = len(counts), int(counts.sum())
    if windows < 3:
        return not_estimated(seen, "fewer than three windows")
    if not seen:
        return not_estimated(seen, "no window brought a nugget")
    mean = float((np.arange(windows) * counts).sum() / seen)
    if mean >= (windows - 1) / 2:
        return not_estimated(seen, "new nuggets do not become fewer from window to window")
    if not mean:
        return AtLeast(float(seen), seen)
    from scipy.optimize import brentq

    left = brentq(lambda q: q / (1 - q) - windows * q**windows / (1 - q**windows) - mean, 1e-9, 1 - 1e-6)
    return AtLeast(float(seen / (1 - left**windows)), seen)


def add(estimates: Iterable[AtLeast]) -> AtLeast:
    """Return the estimate over topics, each estimated by itself; undefined ones count with what was found there."""
    every = list(estimates)
    seen = sum(one.seen for one in every)
    defined = [one for one in every if one.total is not None]
    if not defined:
        return not_estimated(seen, every[0].why if every else "no topics")
    total = sum(one.seen if one.total is None else one.total for one in every)
    variances = [one.variance for one in defined if one.variance is not None]
    return _at_least(total, seen, sum(variances)) if len(variances) == len(defined) else AtLeast(total, seen)


def _at_least(total: float, seen: int, variance: float) -> AtLeast:
    """Return an estimate with an interval of log(unseen), which does not go below what was found (Chao 1987)."""
    unseen = total - seen
    if unseen <= 0:
        return AtLeast(float(total), seen, variance, float(seen), float(total))
    spread = exp(_Z * sqrt(log1p(variance / unseen**2)))
    return AtLeast(float(total), seen, variance, seen + unseen / spread, seen + unseen * spread)
