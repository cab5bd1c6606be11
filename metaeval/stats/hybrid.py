"""Scores of runs from few topics judged by people and many judged by a model, with confidence intervals.

The model's scores of all topics are corrected by what people and the model differ by on the topics that both judged:
prediction-powered inference (Angelopoulos et al., arXiv 2301.09633; with a weight: PPI++, arXiv 2311.01453), where one
weight is pooled over the runs, quantiles are Student's, and a finite campaign narrows intervals (Cochran, Sampling
Techniques, 1977, section 2.6). Tuned run by run on few topics, with normal quantiles, intervals are too narrow
(arXiv 2505.20178).

human, model: (runs, topics), NaN = not judged. A run's topics are those with a model's score; people's scores count on
these. People's topics have to be a random sample of all.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats import multiple_comparisons
from metaeval.stats.bootstrap import draw_topics
from metaeval.stats.correlation import kendall_tau, taus
from metaeval.stats.means import DIGITS, Figures, mean
from metaeval.stats.statistic import Statistic, undefined

LEAST_JUDGED = 3  # topics of a run, for an interval
PRIOR_SD = 0.03  # of a run's bias, in scores from 0 to 1
_GRID = 121  # points of the prior, from 0 to
_REACH = 4  # of its standard deviations
_SHARES_OFF = 1e-9  # by how much a sum of shares may be off 1
_NOTHING = 1e-12  # standard errors below are of equal values

Counts = npt.NDArray[np.int64]


class Target(StrEnum):
    """What a score is of: the mean of a run over the campaign's topics, or over all topics that they are a draw of."""

    CAMPAIGN = "campaign"
    POPULATION = "population"


class Variances(NamedTuple):
    """Variances over topics of people's scores, and of what the model leaves of them; arrays, or means over rows."""

    human: Any
    residual: Any


class Estimates(NamedTuple):
    """Means with their standard errors and bounds: (rows,) each, NaN where undefined; why says why, else "".

    df: degrees of freedom; judged: topics with both scores; topics: those with a model's. weight: of the model, the
    same for all rows.
    """

    mean: Figures
    error: Figures
    low: Figures
    high: Figures
    df: Figures
    judged: Counts
    topics: Counts
    why: list[str]
    weight: float
    variances: Variances

    @property
    def half_width(self) -> Figures:
        """Half the interval's width."""
        return (self.high - self.low) / 2


class Differences(NamedTuple):
    """The differences of pairs of runs, first less second: (pairs,) each; first, second: places of runs.

    p: of the two-sided t-test that the difference is 0, adjusted where asked for.
    """

    first: Counts
    second: Counts
    estimates: Estimates
    p: Figures

    def decided(self, confidence: float = 0.95) -> npt.NDArray[np.bool_]:
        """Return of each pair whether its runs differ at this level."""
        found: npt.NDArray[np.bool_] = self.p < 1 - confidence
        return found


class Shrunk(NamedTuple):
    """Scores to rank runs by: (runs,), NaN where undefined.

    weight: how far a run's own bias counts, 0 (the model's order) to 1; bias: people's scores less the model's, the
    mean over runs.
    """

    scores: Figures
    weight: Statistic
    bias: float


class OrderTau(NamedTuple):
    """A tau-b, with the bounds of its interval; NaN where undefined."""

    tau: Statistic
    low: float
    high: float


class StratifiedMean(NamedTuple):
    """A mean over labels with its standard error, clustered by topic, and bounds; NaN where undefined."""

    mean: Statistic
    error: float
    low: float
    high: float


class Size(NamedTuple):
    """What is expected of so many judged topics: half the width of a run's interval, and pairs of runs decided."""

    topics: int
    half_width: float
    decided: int


def hybrid_scores(
    human: npt.ArrayLike,
    model: npt.ArrayLike,
    target: Target | str = Target.CAMPAIGN,
    weight: float | None = None,
    confidence: float = 0.95,
) -> Estimates:
    """Return the scores of runs with confidence intervals.

    With L the n judged topics of a run, T all of its topics, y people's and f the model's scores:

        campaign: w mean_T(f) + mean_L(y - w f), error^2 = (1 - n/T) var_L(y - w f) / n, n - 1 degrees of freedom
        population: w mean_U(f) + mean_L(y - w f), error^2 = w^2 var_U(f) / N + var_L(y - w f) / n, Welch's degrees,
            where U are the N topics that people did not judge; where these are fewer than two, w is 0

    w is pooled over runs: the sum of cov_L(y, f) over that of var_L(f), from 0 to 1 (population: each variance times
    1 + n/N); 0 where all variances are 0. weight: used instead. Undefined, with the reason, for a run with fewer than 3
    judged topics, and where all topics are judged but not all of the run. Raises ValueError for arrays that do not
    match, and for a confidence or weight not between 0 and 1.
    """
    y, f = _both(human, model, confidence, weight)
    aim = Target(target)
    return _estimates(y, f, aim, _pooled(y, f, _unjudged(y, f), aim, weight), confidence, _is_full(y, f))


def hybrid_differences(
    human: npt.ArrayLike,
    model: npt.ArrayLike,
    target: Target | str = Target.CAMPAIGN,
    weight: float | None = None,
    confidence: float = 0.95,
    *,
    holm: bool = False,
) -> Differences:
    """Return the differences of all pairs of runs, by the formulas of hybrid_scores on differences of scores.

    The weight is pooled over all pairs: that is, over runs, of scores less the mean of their topic. holm: p is adjusted
    for the number of pairs (Holm, 1979); intervals stay those of single pairs.
    """
    y, f = _both(human, model, confidence, weight)
    aim, is_full = Target(target), _is_full(y, f)
    judged_f = np.where(np.isnan(y), np.nan, f)
    weights = _pooled(y - mean(y, 0), judged_f - mean(judged_f, 0), _unjudged(y, f), aim, weight)
    parts = [
        _estimates(y[at] - y[at + 1 :], f[at] - f[at + 1 :], aim, weights, confidence, is_full)
        for at in range(len(y) - 1)
    ]
    found = _joined(parts, weights.used)
    first, second = np.triu_indices(len(y), 1)
    p = _p_values(found)
    return Differences(first, second, found, multiple_comparisons.holm(p) if holm else p)


def shrunk(
    human: npt.ArrayLike,
    model: npt.ArrayLike,
    target: Target | str = Target.CAMPAIGN,
    prior_sd: float = PRIOR_SD,
) -> Shrunk:
    """Return scores to rank runs by: the model's, corrected by each run's bias as far as it is told from chance.

    Scores are mean_T(f) + m + w (d - m), where d = mean_L(y - f) is a run's bias and m its mean over runs. w is the
    posterior mean of s^2 / (s^2 + v): s is the standard deviation of runs' biases, half-normal(prior_sd) beforehand, on
    121 points from 0 to 4 prior_sd; v is the sampling variance of d - m, pooled over runs from y - f less the mean of
    its topic; d - m is normal with variance s^2 + v, m integrated out. No interval holds for these scores. Undefined
    for fewer than two runs with 3 judged topics. Raises ValueError as hybrid_scores, and for a prior_sd not above 0.
    """
    y, f = _both(human, model, 0.95, None)
    if not prior_sd > 0:
        raise ValueError(f"the prior's standard deviation is above 0, and {prior_sd} is not")
    rests = y - f
    judged, topics = _count(y), _count(f)
    counts = judged >= LEAST_JUDGED
    runs = int(counts.sum())
    if runs < 2:
        why = f"fewer than two runs with {LEAST_JUDGED} judged topics"
        return Shrunk(np.full(len(y), np.nan), undefined(runs, why), float("nan"))
    rests[~counts] = np.nan
    biases = mean(rests, 1)
    bias = float(mean(biases, 0))
    deviations = (biases - bias)[counts]
    within = mean(_variance(rests - mean(rests, 0)), 0) * runs / (runs - 1)
    left_out = 1 - judged / topics if target == Target.CAMPAIGN else np.ones(len(y))
    v = float(within * (left_out[counts] / judged[counts]).mean())
    weight = 1.0 if v < _NOTHING**2 else _posterior_weight(float((deviations**2).sum()), runs, v, prior_sd)
    scores: Figures = mean(f, 1) + bias + weight * (biases - bias)
    return Shrunk(scores, Statistic(weight, runs), bias)


def order_taus(
    people: npt.ArrayLike,
    human: npt.ArrayLike,
    model: npt.ArrayLike,
    target: Target | str = Target.CAMPAIGN,
    prior_sd: float = PRIOR_SD,
    *,
    seed: int,
    draws: int = 200,
    confidence: float = 0.95,
) -> tuple[OrderTau, OrderTau]:
    """Return tau-b with people's order of the shrunk scores, and of the model's: what a draw of topics was good for.

    people: what people say of all topics, of which human is what was drawn, both as in hybrid_scores. Percentile
    intervals over topics, drawn with replacement on all sides at once; that adds noise, which pulls tau down.
    """
    whole, y, f = (np.asarray(one, dtype=np.float64) for one in (people, human, model))

    def orders(some: npt.NDArray[np.int64]) -> tuple[Figures, Figures, Figures]:
        return mean(whole[:, some], 1), shrunk(y[:, some], f[:, some], target, prior_sd).scores, mean(f[:, some], 1)

    reference, *candidates = orders(np.arange(y.shape[1]))
    drawn = zip(*(orders(some) for some in draw_topics(y.shape[1], draws, seed)), strict=True)
    references, *of_draws = (np.array(one) for one in drawn)
    tail = (1 - confidence) / 2
    found = []
    for scores, replicates in zip(candidates, of_draws, strict=True):
        # Too few of the drawn topics were judged in some draws: these have no shrunk score.
        is_there = ~np.isnan(replicates).any(axis=1)
        values = taus(references[is_there], replicates[is_there])
        low, high = np.nanquantile(values, [tail, 1 - tail]) if (~np.isnan(values)).any() else (np.nan, np.nan)
        found.append(OrderTau(kendall_tau(reference, scores), float(low), float(high)))
    return found[0], found[1]


def stratified_mean(
    values: npt.ArrayLike,
    strata: npt.ArrayLike,
    topics: npt.ArrayLike,
    shares: npt.ArrayLike,
    confidence: float = 0.95,
) -> StratifiedMean:
    """Return the mean of people's values of single labels, drawn within strata, for all labels (post-stratification).

    values: of the labels that people gave, (labels,); strata: of each, its place in shares, such as importance x the
    model's label; topics: of each, its topic, by any numbers. shares: of the strata among all labels, as the measure
    weighs them; summing to 1. A model's label is constant within a stratum, so that it has no other say. With y_h the
    mean of stratum h (StratPPI, arXiv 2406.04291) and G topics, whose labels are not independent:

        mean = sum_h W_h y_h,  z_g = sum over labels i of topic g of W_h(i) (y_i - y_h(i)) / n_h(i)
        error^2 = G / (G - 1) sum_g z_g^2, G - 1 degrees of freedom (linearization: Cochran 1977, section 11)

    Undefined with fewer than 3 topics, or without a label in a stratum that has a share. Raises ValueError for arrays
    that do not match, and for shares that do not sum to 1.
    """
    from scipy import special

    y, weights = np.asarray(values, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    at, of_topic = np.asarray(strata, dtype=np.int64), np.asarray(topics)
    if y.ndim != 1 or not y.shape == at.shape == of_topic.shape:
        raise ValueError("values, strata and topics are of equal length")
    if (weights < 0).any() or abs(weights.sum() - 1) > _SHARES_OFF:
        raise ValueError("shares are not negative and sum to 1")
    sizes = np.bincount(at, minlength=len(weights))
    if len(sizes) > len(weights):
        raise ValueError(f"there are {len(weights)} strata, and no stratum {at.max()}")
    nothing = float("nan")
    if ((sizes == 0) & (weights > 0)).any():
        return StratifiedMean(undefined(len(y), "a stratum without labels of people"), nothing, nothing, nothing)
    known, cluster = np.unique(of_topic, return_inverse=True)
    if len(known) < LEAST_JUDGED:
        why = f"fewer than {LEAST_JUDGED} judged topics"
        return StratifiedMean(undefined(len(y), why), nothing, nothing, nothing)
    means = np.bincount(at, weights=y, minlength=len(weights)) / np.maximum(sizes, 1)
    found = float(weights @ means)
    parts = np.bincount(cluster, weights=(weights / np.maximum(sizes, 1))[at] * (y - means[at]))
    error = float(np.sqrt(len(known) / (len(known) - 1) * (parts**2).sum()))
    half = float(special.stdtrit(len(known) - 1, (1 + confidence) / 2)) * error
    return StratifiedMean(Statistic(found, len(y)), error, found - half, found + half)


def _posterior_weight(squares: float, runs: int, v: float, prior_sd: float) -> float:
    s = np.linspace(0, _REACH * prior_sd, _GRID)
    total = s**2 + v
    log = -((runs - 1) * np.log(total) + squares / total + (s / prior_sd) ** 2) / 2
    density = np.exp(log - log.max())
    return float((density * s**2 / total).sum() / density.sum())


def expected_half_width(
    judged: npt.ArrayLike,
    variances: Variances,
    topics: int,
    target: Target | str = Target.CAMPAIGN,
    confidence: float = 0.95,
) -> Figures:
    """Return the half-width of intervals to expect with so many of the topics judged; shapes are broadcast.

    With h the variance of people's scores and r what the model leaves of it: error^2 is (1 - n/T) r / n (campaign) or
    (r + (h - r) n/T) / n (population: the model's part is known as well as T topics tell it).
    """
    from scipy import special

    n = np.asarray(judged, dtype=np.float64)
    error = _expected_error(n, variances, topics, Target(target))
    found: Figures = special.stdtrit(n - 1, (1 + confidence) / 2) * error
    return found


def topics_for(
    half_width: float,
    variances: Variances,
    topics: int,
    target: Target | str = Target.CAMPAIGN,
    confidence: float = 0.95,
) -> int | None:
    """Return how many of the topics people have to judge for intervals of this half-width; None if all do not do.

    For a campaign it is the least n with n >= T q / (T + q), q = (t s / h)^2, t with n - 1 degrees of freedom.
    """
    sizes = np.arange(LEAST_JUDGED, topics + 1)
    enough = np.flatnonzero(expected_half_width(sizes, variances, topics, target, confidence) <= half_width)
    return int(sizes[enough[0]]) if len(enough) else None


def more_topics(
    scores: Estimates,
    differences: Differences,
    sizes: Iterable[int],
    target: Target | str = Target.CAMPAIGN,
    confidence: float = 0.95,
) -> list[Size]:
    """Return what to expect of each number of judged topics, if scores stay as they are estimated.

    The half-width is of a run with the mean variances of all. A pair counts as decided where its interval, as wide as
    expected, leaves out 0; there is no adjustment for the number of pairs.
    """
    topics = int(scores.topics.max(initial=0))
    pairs = differences.estimates
    found = []
    for size in sizes:
        mean_width = expected_half_width(size, mean_variances(scores), topics, target, confidence)
        of_pairs = expected_half_width(size, pairs.variances, topics, target, confidence)
        gaps = np.abs(pairs.mean)
        decided = int(((gaps > of_pairs) & (gaps > _NOTHING)).sum())
        found.append(Size(size, float(mean_width), decided))
    return found


def mean_variances(scores: Estimates) -> Variances:
    """Return the variances of a run, the mean over runs: what the expected half-width of a run is computed from."""
    return Variances(*(float(mean(one, 0)) for one in scores.variances))


def _expected_error(n: Figures, variances: Variances, topics: int, target: Target) -> Figures:
    human, residual = variances
    share = n / topics
    total = (1 - share) * residual if target == Target.CAMPAIGN else residual + (human - residual) * share
    found: Figures = np.sqrt(np.maximum(total, 0) / n)
    return found


class _Weights(NamedTuple):
    """The weight that is used, and the one that leaves the least of people's variance: of a campaign the same."""

    used: float
    best: float


def _both(
    human: npt.ArrayLike, model: npt.ArrayLike, confidence: float, weight: float | None
) -> tuple[Figures, Figures]:
    """Return both as arrays, what people say where the model says nothing left out."""
    y, f = np.array(human, dtype=np.float64), np.array(model, dtype=np.float64)
    if y.ndim != 2 or y.shape != f.shape or not y.shape[1]:
        raise ValueError(f"scores are two arrays (runs, topics) of equal shape, not {y.shape} and {f.shape}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence lies between 0 and 1, and {confidence} does not")
    if weight is not None and not 0 <= weight <= 1:
        raise ValueError(f"the weight is from 0 to 1, and {weight} is not")
    y[np.isnan(f)] = np.nan
    return y, f


def _is_full(y: Figures, f: Figures) -> bool:
    """Say whether people judged all topics: what a run lacks then is not for want of drawing."""
    return bool((~np.isnan(y)).any(axis=0).sum() == (~np.isnan(f)).any(axis=0).sum())


def _count(values: Figures) -> Counts:
    found: Counts = (~np.isnan(values)).sum(axis=1)
    return found


def _unjudged(y: Figures, f: Figures) -> Counts:
    return _count(f) - _count(y)


def _variance(values: Figures) -> Figures:
    """Return the variance of each row, ddof 1; exactly 0 of equal values, NaN of fewer than two."""
    return _covariance(values, values)


def _covariance(first: Figures, second: Figures) -> Figures:
    """Return the covariance of the rows of two arrays with NaN in the same places, ddof 1."""
    size = _count(first)
    x = _centred(first)
    products = x * (x if second is first else _centred(second))
    total = np.where(np.isnan(products), 0, products).sum(axis=1)
    found: Figures = np.divide(total, size - 1, out=np.full(len(size), np.nan), where=size > 1)
    return found


def _centred(values: Figures) -> Figures:
    # From the first value on, so that equal ones have no variance, not even by rounding.
    from_first = values - _starts(values)
    found: Figures = from_first - mean(from_first, 1)[:, np.newaxis]
    return found


def _starts(values: Figures) -> Figures:
    """Return the first value of each row that is there: (rows, 1)."""
    if not values.shape[1]:
        return np.full((len(values), 1), np.nan)
    return np.take_along_axis(values, (~np.isnan(values)).argmax(axis=1)[:, np.newaxis], axis=1)


def _pooled(y: Figures, f: Figures, unjudged: Counts, target: Target, weight: float | None) -> _Weights:
    """Return the weight pooled over rows."""
    if weight is not None:
        return _Weights(weight, weight)
    f = np.where(np.isnan(y), np.nan, f)
    counts = _count(y) >= LEAST_JUDGED
    shared, alone = (one[counts] for one in (_covariance(y, f), _variance(f)))
    best = _ratio(shared.sum(), alone.sum())
    if target == Target.CAMPAIGN:
        return _Weights(best, best)
    judged, others = _count(y)[counts], unjudged[counts]
    has_others = others > 1
    spread = alone[has_others] * (1 + judged[has_others] / others[has_others])
    return _Weights(_ratio(shared[has_others].sum(), spread.sum()), best)


def _ratio(shared: float, alone: float) -> float:
    return float(np.clip(shared / alone, 0, 1)) if alone > 0 else 0.0


def _estimates(
    y: Figures, f: Figures, target: Target, weights: _Weights, confidence: float, is_full: bool
) -> Estimates:
    """Return the estimates of rows. is_full: people judged all topics of the campaign."""
    from scipy import special  # a process that computes nothing does not load it

    judged, topics = _count(y), _count(f)
    n, others = np.maximum(judged, 1), topics - judged
    columns = ~np.isnan(y).all(axis=0)
    y_judged = y[:, columns]
    f_judged = np.where(np.isnan(y_judged), np.nan, f[:, columns])
    human, residual = _variance(y_judged), _variance(y_judged - weights.best * f_judged)
    rest = residual if target == Target.CAMPAIGN else _variance(y_judged - weights.used * f_judged)
    human_mean, model_mean = mean(y_judged, 1), mean(f_judged, 1)
    if target == Target.CAMPAIGN:
        found = human_mean + weights.used * (mean(f, 1) - model_mean)
        square = (1 - judged / np.maximum(topics, 1)) * rest / n
        df = n - 1.0
    else:
        unjudged = np.where(np.isnan(y), f, np.nan)
        is_used = (others > 1) & (weights.used > 0)
        of_model = np.where(is_used, weights.used**2 * _variance(unjudged) / np.maximum(others, 1), 0)
        of_people = np.where(is_used, rest, human) / n
        found = human_mean + np.where(is_used, weights.used * (mean(unjudged, 1) - model_mean), 0)
        square = of_model + of_people
        parts = of_model**2 / np.maximum(others - 1, 1) + of_people**2 / np.maximum(n - 1, 1)
        df = np.divide(square**2, parts, out=n - 1.0, where=parts > 0)
    is_partial = is_full & (others > 0) & (judged > 0)
    why = np.select(
        [judged < LEAST_JUDGED, is_partial],
        [f"fewer than {LEAST_JUDGED} judged topics", "all topics are judged, but not all of this run"],
        "",
    )
    is_defined = why == ""
    found, square, df = (np.where(is_defined, one, np.nan) for one in (found, square, df))
    error = np.sqrt(square)
    half = special.stdtrit(df, (1 + confidence) / 2) * error
    variances = Variances(*(np.where(is_defined, one, np.nan) for one in (human, residual)))
    return Estimates(
        found, error, found - half, found + half, df, judged, topics, why.tolist(), weights.used, variances
    )


def _joined(parts: list[Estimates], weight: float) -> Estimates:
    """Return estimates one after the other."""
    none = np.zeros(0)

    def all_of(values: list[Any]) -> Any:
        return np.concatenate([none, *values])

    arrays = {name: all_of([getattr(one, name) for one in parts]) for name in ("mean", "error", "low", "high", "df")}
    counts = {name: all_of([getattr(one, name) for one in parts]).astype(int) for name in ("judged", "topics")}
    why = [reason for one in parts for reason in one.why]
    variances = Variances(*(all_of([one.variances[at] for one in parts]) for at in range(2)))
    return Estimates(**arrays, **counts, why=why, weight=weight, variances=variances)


def _p_values(found: Estimates) -> Figures:
    """Return two-sided p-values of estimates being 0; where nothing varies, certain unless they are 0."""
    from scipy import special

    distance = np.abs(np.round(found.mean, DIGITS))
    certain = np.where(distance == 0, 0.0, np.inf)
    t = np.divide(distance, found.error, out=certain, where=found.error > _NOTHING)
    p: Figures = np.where(np.isnan(found.mean), np.nan, 2 * special.stdtr(found.df, -t))
    return p
