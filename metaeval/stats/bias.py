"""Whether a judge's scores favour runs for what they are: written by its own family of models, long, or listed first.

Run means are compared with a reference's. A judge that compresses the scale gives good runs too little and bad runs too
much, so a plain difference takes quality for bias: first the judge's scores are predicted from the reference's, and
what is left over is compared. The reference is measured with error, which makes the fitted slope too flat; so it is
divided by the reference's reliability rho (Fuller, Measurement Error Models, 1987, section 1.2).
"""

from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.bootstrap import Bounds
from metaeval.stats.generalizability import POWER
from metaeval.stats.levels import run_means
from metaeval.stats.means import Figures
from metaeval.stats.significance import ALPHA

PERMUTATIONS = 20_000
BANDS = 10  # of reference scores, and of lengths, in which answers are alike
MEANS_ALONE = "scores by topic are not known"
Orders = npt.NDArray[np.intp]
_SAME = 1e-12  # what is this close is equal but for rounding


class Fit(NamedTuple):
    """How a judge's run means m follow from a reference's, h, and from a trait x of the runs.

    slope: of m on h, over rho. residual: the slope of m - slope * h on x; of a trait of 0 and 1 that is the difference
    between the mean residuals of both groups. left: the share of the variance of x that h does not explain. All but
    the last are in units of m, for a step of 1 in h or x; NaN where undefined.
    """

    slope: Figures
    residual: Figures
    left: Figures

    @property
    def effect(self) -> Figures:
        """The coefficient of x in m = a + b h + effect x, fitted together."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.left > _SAME, self.residual / self.left, np.nan)


class PermutationTest(NamedTuple):
    """A statistic with its two-sided p-value, by permutations.

    least: the smallest true value that would be significant at 0.05 in 80 % of cases: the 95th percentile of permuted
    sizes, and 0.84 of their standard deviations. Both are NaN where permutations change nothing: all values are equal,
    or no two teams have as many runs. All are where the statistic is undefined.
    """

    value: float
    p: float
    least: float


class Effect(NamedTuple):
    """What a trait of so many runs is worth in a judge's scores.

    slope, residual, effect: as Fit has them. bounds: of the effect, at 95 %; p and least: as its test has them.
    """

    runs: int
    reliability: float
    slope: float
    residual: float
    effect: float
    bounds: Bounds
    p: float
    least: float


class OfFamily(NamedTuple):
    """What judges of a family give its runs above what other judges give them, each judge centred over all runs."""

    family: str
    runs: int
    value: float


class Interaction(NamedTuple):
    """Whether judges prefer runs of their own family, against the other judges. test: of the sum over families."""

    families: list[OfFamily]
    test: PermutationTest


def fit_trait(judge: npt.ArrayLike, reference: npt.ArrayLike, trait: npt.ArrayLike, reliability: float = 1.0) -> Fit:
    """Return how a judge's run means follow from a reference's and from a trait.

    judge, reference: (runs,) or (draws, runs); trait: (runs,); reliability: of the reference's run means, above 0 and
    at most 1. slope b = cov(m, h) / (rho var(h)); residual r = (cov(m, x) - b cov(h, x)) / var(x); left = 1 -
    corr(h, x)^2 / rho. r / left solves the normal equations of m on h and x with rho var(h) in place of var(h), the
    variance of h without its error; of rho 1 that is ordinary least squares. Raises ValueError for another reliability.
    """
    if not 0 < reliability <= 1:
        raise ValueError(f"a reliability is above 0 and at most 1, not {reliability}")
    m, h, x = (_centred(one) for one in (judge, reference, trait))
    of_h, of_x = (h**2).sum(axis=-1) * reliability, (x**2).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (m * h).sum(axis=-1) / of_h
        return Fit(slope, (m @ x - slope * (h @ x)) / of_x, 1 - (h @ x) ** 2 / of_h / of_x)


def trait_effect(
    judge: npt.ArrayLike,
    reference: npt.ArrayLike,
    trait: npt.ArrayLike,
    orders: Orders,
    cells: tuple[Figures, Figures] | None = None,
    *,
    reliability: float = 1.0,
) -> Effect:
    """Return what a trait of runs is worth in a judge's scores, with its test and an interval.

    judge, reference, trait, reliability: as fit_trait has them, of (runs,). cells: the scores of judge and reference,
    (runs, topics), NaN where a cell does not count; None where only means are known, which have no interval.

    The test is that of Freedman and Lane (1983): residuals of the model without the trait are exchanged by orders, as
    team_orders gives them, and the effect is fitted anew. p is the share of effects that are as large.

    The interval is Student's t of the jackknife over topics (Tukey 1958), with the reliability as it is. A bootstrap
    would add to the error of the reference what it draws, and so to the effect.
    """
    fit = fit_trait(judge, reference, trait, reliability)
    m, h, x = (_centred(one) for one in (judge, reference, trait))
    # The effect is m @ weights, whatever m is.
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = (x - h * (h @ x) / (h @ h * reliability)) / (x @ x * fit.left)
    test = _test(float(fit.effect), (m - fit.slope * h)[orders] @ weights)
    bounds = _bounds(float(fit.effect), cells, trait, reliability) if cells else Bounds(None, None, MEANS_ALONE)
    figures = float(fit.slope), float(fit.residual), float(fit.effect)
    return Effect(len(x), reliability, *figures, bounds, test.p, test.least)


def _bounds(effect: float, cells: tuple[Figures, Figures], trait: npt.ArrayLike, reliability: float) -> Bounds:
    from scipy import special

    topics = cells[0].shape[1]
    if topics < 2:
        return Bounds(None, None, "fewer than two topics")
    judge, reference = (run_means(one, 1 - np.eye(topics)) for one in cells)  # without each topic in turn
    without = fit_trait(judge, reference, trait, reliability).effect
    half = float(special.stdtrit(topics - 1, 1 - ALPHA / 2) * np.sqrt((topics - 1) * without.var()))
    if np.isnan(half):
        return Bounds(None, None, "undefined without one of the topics")
    return Bounds(effect - half, effect + half)


def slope_test(values: npt.ArrayLike, trait: npt.ArrayLike, orders: Orders) -> PermutationTest:
    """Test the slope of values on a trait, both (places,), by permuted values. orders: (draws, places)."""
    y, x = np.asarray(values, dtype=np.float64), _centred(trait)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = x / (x**2).sum()
    return _test(float(y @ weights), y[orders] @ weights)


def team_orders(teams: Sequence[Hashable], draws: int, seed: int) -> Orders:
    """Return orders of runs that keep teams together: (draws, runs), places of runs. Seeded.

    Runs of one team are alike, so they are no independent observations: whole teams change places, those with as many
    runs among each other, and runs do within their team (Winkler et al., NeuroImage 123, 2015). teams: (runs,).
    """
    rng = np.random.default_rng(seed)
    places: dict[Hashable, list[int]] = {}
    for place, team in enumerate(teams):
        places.setdefault(team, []).append(place)
    orders = np.empty((draws, len(teams)), dtype=np.intp)
    for size in sorted({len(of_team) for of_team in places.values()}):
        blocks = np.array([of_team for of_team in places.values() if len(of_team) == size])
        moved = blocks[rng.random((draws, len(blocks))).argsort(axis=1)]  # (draws, teams, runs of a team)
        within = rng.random(moved.shape).argsort(axis=2)
        orders[:, blocks.ravel()] = np.take_along_axis(moved, within, axis=2).reshape(draws, -1)
    return orders


def matched_residuals(judge: npt.ArrayLike, reference: npt.ArrayLike, lengths: npt.ArrayLike) -> Figures:
    """Return by how much a judge scores each answer above those that are as good and as long: (runs, topics).

    All three: (runs, topics), NaN where a cell does not count. Answers are alike in a decile of the reference's scores
    and a decile of lengths (equal values are in one decile); the mean of the judge's scores of these is taken off.
    NaN where no other answer is alike.
    """
    m, h, words = (np.asarray(one, dtype=np.float64) for one in (judge, reference, lengths))
    there = ~(np.isnan(m) | np.isnan(h) | np.isnan(words))
    found = np.full(m.shape, np.nan)
    if there.any():
        band = _bands(h[there]) * BANDS + _bands(words[there])
        size = np.bincount(band)
        mean = np.bincount(band, m[there]) / np.maximum(size, 1)
        found[there] = np.where(size[band] > 1, m[there] - mean[band], np.nan)
    return found


def place_test(
    differences: npt.ArrayLike, places: npt.ArrayLike, topics: Sequence[Hashable], *, draws: int, seed: int
) -> PermutationTest:
    """Test whether what a judge gives items above the reference goes with their places in what it is asked at once.

    differences: of the means of both judges' labels of an item; places: from 0; topics: of the items; all (items,).
    value: for each place further down, within topics. Differences are exchanged within topics. Seeded.
    """
    values, at = (np.array(one, dtype=np.float64) for one in (differences, places))
    rng = np.random.default_rng(seed)
    orders = np.empty((draws, len(values)), dtype=np.intp)
    for topic in dict.fromkeys(topics):
        own = np.array([place for place, one in enumerate(topics) if one == topic])
        values[own], at[own] = _centred(values[own]), _centred(at[own])
        orders[:, own] = own[rng.random((draws, len(own))).argsort(axis=1)]
    return slope_test(values, at, orders)


def judge_interaction(
    scores: npt.ArrayLike, judges: Sequence[str], generators: Sequence[Collection[str]], orders: Orders
) -> Interaction:
    """Return how far judges prefer runs of their own family, against the other judges, without people.

    scores: run means (runs, judges); judges: the families of these, "" where unknown; generators: the families that
    wrote each run; orders: as team_orders gives them. Of each family with runs and judges, where there are others of
    both: the mean over its runs of its judges' scores less the other judges', each judge centred over all runs. The
    statistic is the sum over families. It takes a judge that compresses the scale for one that dislikes good runs.
    """
    centred = _centred(np.asarray(scores, dtype=np.float64).T).T
    families: list[OfFamily] = []
    permuted = np.zeros(len(orders))
    for family in dict.fromkeys(judges):
        is_own = np.array([one == family for one in judges])
        wrote = np.array([family in one for one in generators])
        if not family or is_own.all() or not wrote.any() or wrote.all():
            continue
        above = centred[:, is_own].mean(axis=1) - centred[:, ~is_own].mean(axis=1)
        families.append(OfFamily(family, int(wrote.sum()), float(above[wrote].mean())))
        permuted += above[orders][:, wrote].mean(axis=1)
    value = sum(one.value for one in families) if families else np.nan
    return Interaction(families, _test(value, permuted))


def _centred(values: npt.ArrayLike) -> Figures:
    """Return values less their mean, along the last axis: 0 where all are equal, though their mean is rounded."""
    found = np.asarray(values, dtype=np.float64)
    are_equal = np.ptp(found, axis=-1, keepdims=True) == 0
    centred: Figures = np.where(are_equal, 0, found - found.mean(axis=-1, keepdims=True))
    return centred


def _bands(values: Figures) -> npt.NDArray[np.intp]:
    """Return the decile of each value, from 0."""
    found: npt.NDArray[np.intp] = np.searchsorted(np.quantile(values, np.arange(1, BANDS) / BANDS), values, side="left")
    return found


def _test(value: float, permuted: Figures) -> PermutationTest:
    """Return the test of a statistic: p = (1 + how many permuted ones are as large) / (draws + 1)."""
    from scipy import special  # a process that tests nothing does not load it

    if np.isnan(value) or np.ptp(permuted) < _SAME:
        return PermutationTest(value, np.nan, np.nan)
    size = np.abs(permuted)
    p = float(1 + (size >= abs(value) - _SAME).sum()) / (len(permuted) + 1)
    return PermutationTest(value, p, float(np.quantile(size, 1 - ALPHA) + special.ndtri(POWER) * permuted.std()))
