"""How well so many topics tell runs apart: variance components, and what they predict of another edition.

Scores are y_rt = mu + run + topic + residual, all effects random, with one score for each run and topic: the G study of
Brennan (Generalizability Theory, 2001, chapters 2 and 3), for test collections as in Urbano, Marrero and Martín (SIGIR
2013). In the residual are the interaction of run and topic, and what another assessor would have judged otherwise.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.bootstrap import Interval, interval
from metaeval.stats.correlation import taus
from metaeval.stats.levels import run_means
from metaeval.stats.means import Figures
from metaeval.stats.significance import ALPHA
from metaeval.stats.statistic import Statistic, undefined
from metaeval.stats.studentized_range import critical_value

POWER = 0.8
CONSTANT = "all scores are equal"
_ROUNDING = 1e-20  # estimates this small come from rounding: scores have ten digits


class Components(NamedTuple):
    """Variance components of scores by run and topic, from so many runs and topics.

    negative: the names of those whose estimate was below 0, which are 0 here.
    """

    run: float
    topic: float
    residual: float
    runs: int
    topics: int
    negative: tuple[str, ...] = ()


class AssessorComponents(NamedTuple):
    """Variance components of the design r x (a:t), where topics have assessors of their own.

    assessor: a:t, of an assessor's strictness on a topic; run_topic: rt; residual: r(a:t), which is how assessors
    differ about single runs, and all else. topics, answers: how many had two assessors. negative: as in Components.
    """

    run: float
    topic: float
    assessor: float
    run_topic: float
    residual: float
    topics: int
    answers: int
    negative: tuple[str, ...] = ()


class Criterion(StrEnum):
    """When a difference between two runs counts as found, at the level .05, two-sided."""

    HSD = "hsd"  # Tukey's honestly significant difference among all pairs of runs
    T = "t"  # a paired t-test of this pair alone
    Z = "z"  # the same with a known variance


def variance_components(scores: npt.ArrayLike) -> Components:
    """Return the variance components of a two-way random ANOVA with one score a cell. scores: (runs, topics).

    Raises ValueError where a score is NaN (which cells are left out or 0 is the caller's to decide), or with fewer than
    two runs or topics.
    """
    y = _complete(scores)
    runs, topics = y.shape
    by_run, by_topic = y.mean(axis=1), y.mean(axis=0)
    deviations = y - by_run[:, np.newaxis] - by_topic + y.mean()
    residual = float((deviations**2).sum()) / ((runs - 1) * (topics - 1))
    estimates = {
        "run": (topics * by_run.var(ddof=1) - residual) / topics,
        "topic": (runs * by_topic.var(ddof=1) - residual) / runs,
        "residual": residual,
    }
    return Components(**_at_least_0(estimates), runs=runs, topics=topics, negative=_negative(estimates))


def assessor_components(components: Components, first: npt.ArrayLike, second: npt.ArrayLike) -> AssessorComponents:
    """Return the variance components of the design r x (a:t), from answers that two assessors judged.

    components: of all topics, by one assessor each. first, second: (runs, topics), NaN where an answer was not judged
    by that assessor. What assessors differ by is estimated from the differences of the two: of single runs, 2 r(a:t),
    from those within topics; of whole topics, 2 (a:t + r(a:t) / answers), from the topics' means. Where both judged all
    answers, that is the ANOVA of the design p x (i:h) (Brennan 2001, chapter 3). They are inside the residual and the
    topic of `components`; what is left of these is rt and t. Raises ValueError where no topic has two such answers.
    """
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    difference = difference[:, ~np.isnan(difference).all(axis=0)]
    answers = (~np.isnan(difference)).sum(axis=0)
    degrees = int((answers - 1).sum())
    if degrees < 1:
        raise ValueError("no topic has two answers that two assessors judged")
    of_topic = np.nanmean(difference, axis=0)
    residual = float(np.nansum((difference - of_topic) ** 2)) / degrees / 2
    assessor = float((answers * of_topic**2).sum() / 2 - residual * len(answers)) / int(answers.sum())
    estimates = {
        "run": components.run,
        "topic": components.topic - max(0.0, assessor),
        "assessor": assessor,
        "run_topic": components.residual - residual,
        "residual": residual,
    }
    negative = tuple(name for name in (*components.negative, *_negative(estimates)) if name != "residual")
    return AssessorComponents(
        **_at_least_0(estimates),
        topics=len(answers),
        answers=int(answers.sum()),
        negative=tuple(dict.fromkeys(negative)),
    )


def with_second_opinions(
    components: Components, of_assessors: AssessorComponents, *, share: float, assessors: int = 2
) -> Components:
    """Return what the components are where a share of topics is judged by several assessors, whose mean counts.

    share: 0 to 1. components: with one assessor a topic; what assessors differ by is inside the topic (a:t) and the
    residual (r(a:t)), and shrinks by their number on these topics. Neither falls below 0.
    """
    if not 0 <= share <= 1 or assessors < 1:
        raise ValueError("a share is 0 to 1, and a topic has one assessor or more")
    less = share * (1 - 1 / assessors)
    return components._replace(
        topic=components.topic - less * min(of_assessors.assessor, components.topic),
        residual=components.residual - less * min(of_assessors.residual, components.residual),
    )


def generalizability(components: Components, topics: int) -> Statistic:
    """Return E rho^2 of run means over so many topics: the share of their variance that is the runs'.

    sigma^2_run / (sigma^2_run + sigma^2_e / n), for rankings and differences on the same topics.
    """
    return _share(components.run, components.residual, topics)


def dependability(components: Components, topics: int) -> Statistic:
    """Return Phi of run means over so many topics: as E rho^2, for scores compared across different topics.

    sigma^2_run / (sigma^2_run + (sigma^2_topic + sigma^2_e) / n).
    """
    return _share(components.run, components.topic + components.residual, topics)


def generalizability_interval(components: Components, topics: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the confidence interval of generalizability(), for effects that are normal.

    MS_run / MS_e over its expectation has an F distribution with R - 1 and (R - 1)(T - 1) degrees of freedom (Feldt
    1965; for so many topics, Urbano et al. 2013). Raises ValueError where the residual is 0.
    """
    from scipy import special

    if not components.residual:
        raise ValueError("no residual: the interval is undefined")
    of_runs, of_residual = components.runs - 1, (components.runs - 1) * (components.topics - 1)
    ratio = 1 + components.topics * components.run / components.residual
    tail = (1 - confidence) / 2
    found = [ratio / special.fdtri(of_runs, of_residual, at) for at in (1 - tail, tail)]
    low, high = (max(0.0, float(one) - 1) / components.topics * topics for one in found)  # sigma^2_run by the error's
    return low / (low + 1), high / (high + 1)


def smallest_difference(
    components: Components,
    topics: npt.ArrayLike,
    runs: int,
    criterion: Criterion,
    *,
    power: float = POWER,
    alpha: float = ALPHA,
) -> Figures:
    """Return the true difference of two runs that is found with this power on so many topics: an array as topics.

    The variance of the mean difference is 2 sigma^2_e / n. Z: (z_(1 - alpha/2) + z_power) standard errors. T: by the
    noncentral t distribution with n - 1 degrees of freedom. HSD: the same above q / sqrt(2), with q the quantile of
    the studentized range of so many runs, and (R - 1)(n - 1) degrees of freedom as its error is that of all runs. The
    chance to find it with the wrong sign is left out. Raises ValueError for fewer than two topics or runs.
    """
    from scipy import special

    n = np.asarray(topics, dtype=np.float64)
    if (n < 2).any() or runs < 2:
        raise ValueError("differences are found between two runs or more, on two topics or more")
    if criterion == Criterion.Z:
        effect = np.full(n.shape, special.ndtri(1 - alpha / 2) + special.ndtri(power))
    else:
        is_pair = criterion == Criterion.T
        degrees = n - 1 if is_pair else (runs - 1) * (n - 1)
        threshold = (
            special.stdtrit(degrees, 1 - alpha / 2) if is_pair else critical_value(alpha, runs, degrees) / np.sqrt(2)
        )
        effect = special.nctdtrinc(degrees, 1 - power, threshold)
    found: Figures = effect * np.sqrt(2 * components.residual / n)
    return found


def pair_spread(scores: npt.ArrayLike, share: float = 0.9) -> tuple[float, float]:
    """Return between what this share of pairs of runs lies, of the variance of their differences by topic.

    scores: (runs, topics), complete. The variance is relative to 2 sigma^2_e, its mean over all pairs, which is what
    smallest_difference() takes for each. Raises ValueError as variance_components() does, and where sigma^2_e is 0.
    """
    y = _complete(scores)
    covariance = np.cov(y)
    own = np.diagonal(covariance)
    variance = (own[:, np.newaxis] + own - 2 * covariance)[np.triu_indices(len(y), 1)]
    mean = variance.mean()  # 2 sigma^2_e
    if mean <= 0:
        raise ValueError("no two runs differ by more on one topic than on another")
    low, high = np.percentile(variance / mean, [(1 - share) / 2 * 100, (1 + share) / 2 * 100])
    return float(low), float(high)


def expected_tau(components: Components, topics: int) -> Statistic:
    """Return the expected Kendall's tau of the runs' rankings on two sets of so many topics, none in both.

    Means of runs on both correlate by E rho^2; of normal variables with correlation rho tau is 2 / pi arcsin(rho)
    (Kendall, Rank Correlation Methods, chapter 9).
    """
    correlation = generalizability(components, topics)
    if correlation.value is None:
        return correlation
    return Statistic(float(2 / np.pi * np.arcsin(correlation.value)), topics)


def split_half_tau(
    scores: npt.ArrayLike, *, seed: int, topics: int | None = None, draws: int = 2000, confidence: float = 0.95
) -> Interval:
    """Return tau-b of runs on two random halves of the topics: the mean over draws, and their percentiles.

    scores: (runs, topics); topics: of each half, by default half of them. It is what expected_tau() predicts, seen.
    Raises ValueError where there are not that many topics.
    """
    y = np.asarray(scores, dtype=np.float64)
    size = y.shape[1] // 2 if topics is None else topics
    if not 1 <= size <= y.shape[1] // 2:
        raise ValueError(f"of {y.shape[1]} topics no two halves of {size} can be drawn")
    order = np.random.default_rng(seed).permuted(np.tile(np.arange(y.shape[1]), (draws, 1)), axis=1)
    halves = [((order >= start) & (order < start + size)).astype(np.float64) for start in (0, size)]
    return interval(taus(*(run_means(y, half) for half in halves)), confidence)


def _complete(scores: npt.ArrayLike) -> Figures:
    y = np.asarray(scores, dtype=np.float64)
    if y.ndim != 2 or min(y.shape) < 2:
        raise ValueError(f"variance components need two or more runs and topics, not {y.shape}")
    if np.isnan(y).any():
        raise ValueError("variance components need a score in each cell")
    return y


def _at_least_0(estimates: dict[str, float]) -> dict[str, float]:
    return {name: float(value) if value > _ROUNDING else 0.0 for name, value in estimates.items()}


def _negative(estimates: dict[str, float]) -> tuple[str, ...]:
    return tuple(name for name, value in estimates.items() if value < -_ROUNDING)


def _share(of_runs: float, error: float, topics: int) -> Statistic:
    """Return what is the runs' of the variance of means. error: the variance of a topic's error."""
    if topics < 1:
        raise ValueError("run means are over one topic or more")
    if not of_runs + error:
        return undefined(topics, CONSTANT)
    return Statistic(of_runs / (of_runs + error / topics), topics)
