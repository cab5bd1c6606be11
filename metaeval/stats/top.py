"""Agreement at the top: tau of the best runs alone, and whether the best run is found.

Among few good runs tau is lower than among all, as they differ less while the noise stays as large: a restriction of
range, which alone says nothing against a judge. So each tau stands beside what equal noise everywhere would give, and
is also computed of the runs that the candidate has for the best, where the restriction works otherwise.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.bootstrap import Interval, count_topics, draw_topics, interval
from metaeval.stats.correlation import CONSTANT, TOO_FEW, leading_taus
from metaeval.stats.levels import pair_scores, run_means
from metaeval.stats.means import DIGITS, Figures
from metaeval.stats.statistic import Statistic, undefined

SIZES = (5, 10, 15, 20, 30, 45, 60, 80, 100, 150, 200, 300, 400, 500)  # numbers of best runs, and all of them
LEAST_JUDGED = 10  # of fewer runs tau has few values, so there is no band
_CONFIDENCE = 0.95
_FEW_RUNS = "fewer than four runs"  # a line and its noise take three
_NO_TOPICS = "no scores by topic"


class TopTau(NamedTuple):
    """Tau of the best k runs; n: of them, those included that tie with the k-th.

    expected: the mean that equal noise gives; low, high: the band of it, which is for all k at once. None where there
    is none.
    """

    k: int
    tau: Statistic
    expected: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def pairs(self) -> int:
        """The number of pairs of these runs."""
        return self.tau.n * (self.tau.n - 1) // 2

    @property
    def side(self) -> int:
        """On which side of the band tau lies: 1 above it, -1 below it; 0 within it, or where there is none."""
        if self.tau.value is None or self.low is None or self.high is None:
            return 0
        return int(self.tau.value > self.high) - int(self.tau.value < self.low)


class Top(NamedTuple):
    """Tau of the best runs, chosen by the reference and by the candidate, by their number; all runs come last."""

    reference: list[TopTau]
    candidate: list[TopTau]


class Winner(NamedTuple):
    """Whether the candidate finds the best run.

    reference, candidate: the best runs of each, by place, more where they tie. loss: the reference's score of its best
    run less that of the candidate's, the mean of those where several tie. found: the share of draws of topics in which
    the candidate's best run is the reference's best; interval: of the loss in these draws.
    """

    reference: list[int]
    candidate: list[int]
    loss: Statistic
    found: Statistic
    interval: Interval


def top_taus(
    reference: npt.ArrayLike, candidate: npt.ArrayLike, *, seed: int, draws: int = 1000, has_band: bool = True
) -> Top:
    """Return tau-b of the best k runs for each of SIZES, beside what equal noise would give.

    reference, candidate: the runs' means, (runs,), NaN where a run has none; k and n count runs with both.
    Equal noise: the candidate's means are a + b * reference + noise, a and b by least squares, the noise normal with
    the standard deviation of the residuals (n - 2), alike for all runs; the same is computed of as many such candidates
    as draws say. has_band: whether there is a band (a global rank envelope: Myllymaki et al., JRSS B 2017): of
    simulated candidates, 95 % lie within it at all k from LEAST_JUDGED on and for both choices.
    """
    x, y = pair_scores(np.atleast_2d(reference), np.atleast_2d(candidate))
    x, y = (side[0][~np.isnan(x[0])].round(DIGITS) for side in (x, y))
    if not len(x):
        return Top([], [])
    sizes = [*(k for k in SIZES if k < len(x)), len(x)]
    simulated = equal_noise(x, y, seed=seed, draws=draws)
    candidates = y[np.newaxis] if simulated is None else np.vstack([y, simulated])
    references = np.broadcast_to(x, candidates.shape)
    both = [_chosen(references, candidates, by, sizes) for by in (references, candidates)]
    taus = np.stack([found for found, _ in both])  # (choices, 1 + draws, sizes)
    expected, low, high = _expected(taus[:, 1:], np.array(sizes) >= LEAST_JUDGED, has_band)
    return Top(
        *(
            [
                TopTau(k, _statistic(found, n), *(None if np.isnan(one) else float(one) for one in of_noise))
                for k, found, n, *of_noise in zip(
                    sizes, taus[at, 0].tolist(), counts, expected[at], low[at], high[at], strict=True
                )
            ]
            for at, (_, counts) in enumerate(both)
        )
    )


def equal_noise(reference: Figures, candidate: Figures, *, seed: int, draws: int) -> Figures | None:
    """Return simulated candidates, (draws, runs), as top_taus has them; None of fewer than four runs or a constant."""
    if len(reference) < 4 or reference.min() == reference.max():
        return None
    slope, start = np.polyfit(reference, candidate, 1)
    line = start + slope * reference
    deviation = np.sqrt(((candidate - line) ** 2).sum() / (len(line) - 2))
    noise = np.random.default_rng(seed).normal(scale=deviation, size=(draws, len(line)))
    simulated: Figures = np.round(line + noise, DIGITS)
    return simulated


def _chosen(first: Figures, second: Figures, by: Figures, sizes: list[int]) -> tuple[Figures, list[int]]:
    """Return tau-b of each row's best k runs: (rows, sizes), and how many runs these are in the first row.

    first, second, by: (rows, runs). Runs that tie with the k-th are among the best too.
    """
    order = np.argsort(-by, axis=1, kind="stable")
    x, y, score = (np.take_along_axis(side, order, axis=1) for side in (first, second, by))
    taus = leading_taus(x, y)
    last = np.stack([(score >= score[:, k - 1 : k]).sum(axis=1) for k in sizes], axis=1) - 1
    return np.take_along_axis(taus, last, axis=1), (last[0] + 1).tolist()


def _expected(taus: Figures, judged: npt.NDArray[np.bool_], has_band: bool) -> tuple[Figures, Figures, Figures]:
    """Return mean and band of simulated taus: (choices, sizes) each, NaN where there is none.

    taus: (choices, draws, sizes); judged: of each size, whether there is a band.
    """
    choices, draws, sizes = taus.shape
    expected, low, high = np.full((3, choices, sizes), np.nan)
    if not draws:
        return expected, low, high
    is_defined = ~np.isnan(taus).any(axis=1)
    expected[is_defined] = taus.mean(axis=1)[is_defined]
    in_band = is_defined & judged
    if has_band and in_band.any():
        curves = taus.transpose(0, 2, 1)[in_band]  # (points, draws)
        in_order = np.sort(curves, axis=1)
        depth = np.min(
            [
                np.minimum(np.searchsorted(values, curve, "right"), draws - np.searchsorted(values, curve, "left"))
                for values, curve in zip(in_order, curves, strict=True)
            ],
            axis=0,
        )
        least = np.sort(depth)[int((1 - _CONFIDENCE) * draws)]
        low[in_band], high[in_band] = in_order[:, least - 1], in_order[:, draws - least]
    return expected, low, high


def _statistic(found: float, n: int) -> Statistic:
    if np.isnan(found):
        return undefined(n, TOO_FEW if n < 2 else CONSTANT)
    return Statistic(found, n)


def winner(reference: npt.ArrayLike, candidate: npt.ArrayLike) -> Winner:
    """Return the best runs by means alone, (runs,), NaN where a run has none: without draws of topics."""
    x, y = pair_scores(np.atleast_2d(reference), np.atleast_2d(candidate))
    nothing = Interval(None, None, None, 0, _NO_TOPICS)
    if np.isnan(x).all():
        return Winner([], [], undefined(0, TOO_FEW), undefined(0, _NO_TOPICS), nothing)
    best, chosen = (np.flatnonzero(_best(side)[0]).tolist() for side in (x, y))
    loss = Statistic(float(_losses(x, y)[0]), int((~np.isnan(x)).sum()))
    return Winner(best, chosen, loss, undefined(0, _NO_TOPICS), nothing)


def winner_of_topics(first: npt.ArrayLike, second: npt.ArrayLike, *, seed: int, draws: int = 1000) -> Winner:
    """Return the best runs, and by a bootstrap over topics how sure that is.

    first, second: (runs, topics), NaN where a cell does not count. The draws are those of bootstrap_tau.
    """
    x, y = pair_scores(first, second)
    topics = x.shape[1]
    once = np.ones((1, topics))
    found = winner(run_means(x, once)[0], run_means(y, once)[0])
    if topics < 2 or found.loss.value is None:
        return found
    weights = count_topics(draw_topics(topics, draws, seed), topics)
    means = run_means(x, weights), run_means(y, weights)
    is_defined = ~np.isnan(means[0]).all(axis=1)
    x, y = (side[is_defined] for side in means)
    best, chosen = _best(x), _best(y)
    share = float(((best & chosen).sum(axis=1) / chosen.sum(axis=1)).mean())
    return found._replace(found=Statistic(share, len(x)), interval=interval(_losses(x, y)))


def _best(means: Figures) -> npt.NDArray[np.bool_]:
    """Return which runs of each row are the best: (rows, runs)."""
    return np.asarray(means == np.nanmax(means, axis=1, keepdims=True))


def _losses(reference: Figures, candidate: Figures) -> Figures:
    """Return what the reference's score of the best run is above that of the candidate's best: (rows,)."""
    chosen = _best(candidate)
    losses: Figures = np.nanmax(reference, axis=1) - np.where(chosen, reference, 0).sum(axis=1) / chosen.sum(axis=1)
    return losses
