"""Calibration of a judge: what people's labels are where a model gave a label, with intervals over topics.

Counts are (topics, human labels, model labels): on each topic, how many things people gave the row's label, and the
model the column's. Labels are in ascending order, as in agreement.py. Those of a topic are not independent, so all
intervals take topics as clusters.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement import Counts, Weights, kappa
from metaeval.stats.bootstrap import Interval, count_topics, draw_topics, interval
from metaeval.stats.means import Figures

LEAST_TOPICS = 10  # from which on there are intervals
FOLDS = 5
BINS = 10  # of predictions, for the calibration error
MARGIN = 0.1  # within which shares of labels agree
_FEW = f"fewer than {LEAST_TOPICS} topics"
_NONE = "the label was never given"


class Estimate(NamedTuple):
    """A share or mean over n labels, with a 95 % interval; None where undefined, and why says why.

    effective: how many independent labels tell as much, for shares.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    effective: float | None = None
    why: str = ""


class Step(NamedTuple):
    """A point of a reliability curve: of a model's label, how often people said yes, and what the isotonic fit says."""

    label: int
    yes: Estimate
    fitted: float


class Reliability(NamedTuple):
    """How well probabilities hold on topics that were left out of their fit; lower is better.

    brier: the mean squared error; error: the expected calibration error. as_is: the same of the model's labels as they
    are, from 0 for the lowest to 1 for the highest. None where undefined, and why says why.
    """

    brier: float | None
    error: float | None
    brier_as_is: float | None
    error_as_is: float | None
    n: int
    why: str = ""


class ShareDifference(NamedTuple):
    """How much more often a label was given in the second of two sets, with a 90 % interval."""

    difference: float
    low: float | None
    high: float | None


class Transfer(NamedTuple):
    """Whether shares of labels agree between two sets: None where that can't be said, and why says why."""

    agrees: bool | None
    shares: Sequence[ShareDifference]
    why: str = ""


def wilson_interval(share: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the score interval of a share of n independent labels (Wilson 1927); n need not be whole.

    Raises ValueError where n is not positive or the share is outside 0 to 1.
    """
    from scipy.special import ndtri

    if n <= 0 or not 0 <= share <= 1:
        raise ValueError(f"{share} of {n} is no share")
    z = float(ndtri((1 + confidence) / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def effective_size(hits: npt.ArrayLike, sizes: npt.ArrayLike) -> float | None:
    """Return how many independent labels tell as much of a share as labels clustered in topics do.

    hits, sizes: (topics,). It is p(1 - p) / var(p) * (t of n - 1 degrees of freedom / t of T - 1)**2 (Korn and Graubard
    1998), never more than n; var(p) is that of a ratio of sums over the T topics with labels,
    T / (T - 1) * sum((hits - p * sizes)**2) / n**2. None below two topics, and where p is 0 or 1, which says nothing of
    clusters.
    """
    from scipy.special import stdtrit

    of_topics = np.asarray(sizes, dtype=np.float64)
    has_labels = of_topics > 0
    given, of_topics = np.asarray(hits, dtype=np.float64)[has_labels], of_topics[has_labels]
    topics, n = len(of_topics), of_topics.sum()
    share = given.sum() / n if n else 0.0
    if topics < 2 or share in (0, 1):
        return None
    variance = topics / (topics - 1) * ((given - share * of_topics) ** 2).sum() / n**2
    if not variance:
        return float(n)
    wider = float(stdtrit(n - 1, 0.975) / stdtrit(topics - 1, 0.975))
    return float(min(n, share * (1 - share) / variance * wider**2))


def human_given_model(counts: npt.ArrayLike) -> list[list[Estimate]]:
    """Return P(human label | model label): a list for each model label, of all human labels."""
    return _shares(_counts(counts).transpose(0, 2, 1))


def model_given_human(counts: npt.ArrayLike) -> list[list[Estimate]]:
    """Return P(model label | human label): a list for each human label, of all model labels.

    It doesn't depend on how often people give a label, as P(human | model) does.
    """
    return _shares(_counts(counts))


def _shares(counts: Counts) -> list[list[Estimate]]:
    """Return the shares of outcomes, with Wilson intervals of effective sizes; counts: (topics, given, outcomes).

    A share of 0 or 1 says nothing of clusters: it has the smallest effective size of its row.
    """
    sizes = counts.sum(axis=2)
    return [_row(counts[:, given], sizes[:, given]) for given in range(counts.shape[1])]


def share_over_topics(hits: npt.ArrayLike, sizes: npt.ArrayLike) -> Estimate:
    """Return the share of hits among labels clustered in topics, with an interval as shares of outcomes have it.

    hits, sizes: (topics,), whole numbers.
    """
    given, of_topics = np.asarray(hits, dtype=np.int64), np.asarray(sizes, dtype=np.int64)
    return _row(np.stack([of_topics - given, given], axis=1), of_topics)[1]


def _row(hits: Counts, sizes: Counts) -> list[Estimate]:
    n, outcomes = int(sizes.sum()), hits.shape[1]
    if not n:
        return [Estimate(None, None, None, 0, None, _NONE)] * outcomes
    shares = (hits.sum(axis=0) / n).tolist()
    topics = int((sizes > 0).sum())
    if topics < LEAST_TOPICS:
        return [Estimate(share, None, None, n, None, _FEW) for share in shares]
    effective = [effective_size(hits[:, outcome], sizes) for outcome in range(outcomes)]
    # Where all labels are the same, topics are the only independent things known.
    least = min((size for size in effective if size is not None), default=float(topics))
    found = []
    for share, size in zip(shares, effective, strict=True):
        size = least if size is None else size
        found.append(Estimate(share, *wilson_interval(share, size), n, size))
    return found


def expected_values(counts: npt.ArrayLike, values: Sequence[float]) -> list[Estimate]:
    """Return the mean of people's labels as values, for each model label; values: of human labels.

    The interval is that of a ratio of sums over topics (see effective_size), with t of T - 1, cut at the least and
    largest value.
    """
    found = _counts(counts)
    return [_mean(found[:, :, label], values) for label in range(found.shape[2])]


def mean_value(counts: npt.ArrayLike, values: Sequence[float]) -> Estimate:
    """Return the mean of all of people's labels as values, as expected_values does."""
    return _mean(_counts(counts).sum(axis=2), values)


def _mean(counts: Counts, values: Sequence[float]) -> Estimate:
    from scipy.special import stdtrit

    sizes = counts.sum(axis=1)
    n, topics = int(sizes.sum()), int((sizes > 0).sum())
    if not n:
        return Estimate(None, None, None, 0, None, _NONE)
    sums = counts @ np.asarray(values, dtype=np.float64)
    value = float(sums.sum() / n)
    if topics < LEAST_TOPICS:
        return Estimate(value, None, None, n, None, _FEW)
    error = math.sqrt(topics / (topics - 1) * float(((sums - value * sizes) ** 2).sum())) / n
    half = float(stdtrit(topics - 1, 0.975)) * error
    return Estimate(value, max(min(values), value - half), min(max(values), value + half), n)


def even_values(labels: int) -> list[float]:
    """Return values of labels at even distances from 0 to 1: not_support 0, partial_support 0.5, support 1."""
    return [at / (labels - 1) for at in range(labels)] if labels > 1 else [0.0]


def kappa_interval(
    counts: npt.ArrayLike, weights: Weights = Weights.UNWEIGHTED, *, seed: int, draws: int = 1000
) -> Interval:
    """Return the percentile interval of kappa by a bootstrap over topics; none below LEAST_TOPICS topics.

    Draws in which both judges give one and the same label alone have no kappa, and are left out.
    """
    found = _counts(counts)
    found = found[found.sum(axis=(1, 2)) > 0]
    topics, labels = len(found), found.shape[1]
    if topics < LEAST_TOPICS:
        return Interval(None, None, None, 0, _FEW)
    drawn = count_topics(draw_topics(topics, draws, seed), topics) @ found.reshape(topics, -1)
    matrices = drawn.reshape(draws, labels, labels).astype(np.int64)
    kappas = (kappa(matrix, weights).value for matrix in matrices)
    return interval(np.array([math.nan if one is None else one for one in kappas]))


def fit_isotonic(shares: npt.ArrayLike, sizes: npt.ArrayLike) -> Figures:
    """Return the non-decreasing figures nearest to shares by weighted squares; sizes: their weights, above 0.

    By pool-adjacent-violators (Ayer et al. 1955): neighbours that decrease are merged into their mean.
    """
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many
    for share, size in zip(np.asarray(shares, dtype=float).tolist(), np.asarray(sizes, float).tolist(), strict=True):
        mean, weight, many = share, size, 1
        while blocks and blocks[-1][0] >= mean:
            before, of_before, count = blocks.pop()
            mean = (before * of_before + mean * weight) / (of_before + weight)
            weight, many = weight + of_before, many + count
        blocks.append((mean, weight, many))
    return np.repeat([mean for mean, _, _ in blocks], [many for _, _, many in blocks])


def reliability_curve(counts: npt.ArrayLike, threshold: int) -> list[Step]:
    """Return how often people gave at least the threshold, for each label that the model gave."""
    yes, sizes = _yes(_counts(counts), threshold)
    estimates = [row[1] for row in human_given_model(np.stack([sizes - yes, yes], axis=1))]
    given = [(label, estimate) for label, estimate in enumerate(estimates) if estimate.n]
    fitted = fit_isotonic([estimate.value or 0.0 for _, estimate in given], [estimate.n for _, estimate in given])
    return [Step(label, estimate, fit) for (label, estimate), fit in zip(given, fitted.tolist(), strict=True)]


def measure_reliability(counts: npt.ArrayLike, threshold: int, *, seed: int) -> Reliability:
    """Return the errors of probabilities that people give at least the threshold, fitted on other topics.

    Topics, never labels, are dealt into FOLDS folds, seeded; each fold's probabilities are the isotonic fit of the
    others. A label that these lack lies between its neighbours. Undefined below LEAST_TOPICS topics.
    """
    found = _counts(counts)
    found = found[found.sum(axis=(1, 2)) > 0]
    topics, labels = len(found), found.shape[2]
    yes, sizes = _yes(found, threshold)
    n = int(sizes.sum())
    if topics < LEAST_TOPICS:
        return Reliability(None, None, None, None, n, _FEW)
    fold = np.random.default_rng(seed).permutation(topics) % FOLDS
    predicted = np.empty((topics, labels))
    for one in range(FOLDS):
        said, of = (part[fold != one].sum(axis=0) for part in (yes, sizes))
        given = np.flatnonzero(of)
        predicted[fold == one] = np.interp(np.arange(labels), given, fit_isotonic(said[given] / of[given], of[given]))
    as_is = np.broadcast_to(even_values(labels), (topics, labels))
    return Reliability(*_errors(predicted, yes, sizes), *_errors(as_is, yes, sizes), n)


def _errors(predicted: Figures, yes: Counts, sizes: Counts) -> tuple[float, float]:
    """Return the Brier score, and the expected calibration error over BINS bins of equal width."""
    n = sizes.sum()
    brier = (yes * (1 - predicted) ** 2 + (sizes - yes) * predicted**2).sum() / n
    at = np.minimum((predicted * BINS).astype(int), BINS - 1).ravel()
    gaps = np.bincount(at, weights=(predicted * sizes - yes).ravel(), minlength=BINS)
    return float(brier), float(np.abs(gaps).sum() / n)


def _yes(counts: Counts, threshold: int) -> tuple[Counts, Counts]:
    """Return how many people gave at least the threshold, and of how many: each (topics, model labels)."""
    if not 0 < threshold < counts.shape[1]:
        raise ValueError(f"a threshold is a label from 1 to {counts.shape[1] - 1}")
    return counts[:, threshold:].sum(axis=1), counts.sum(axis=1)


def compare_shares(first: npt.ArrayLike, second: npt.ArrayLike, *, seed: int, draws: int = 1000) -> Transfer:
    """Say whether two sets agree in the shares of labels: (topics, labels) each, zeros where one lacks a topic.

    They agree where each label's difference of shares has a 90 % interval, by a bootstrap over topics, within MARGIN of
    0: two one-sided tests of equivalence at .05 (Schuirmann 1987). So what too few topics leave open is no agreement.
    """
    sets = [np.asarray(one, dtype=np.float64) for one in (first, second)]
    if sets[0].ndim != 2 or sets[0].shape != sets[1].shape:
        raise ValueError(f"labels of the same topics are needed, not {sets[0].shape} and {sets[1].shape}")
    if not all(one.sum() for one in sets):
        return Transfer(None, [], "one of the two has no labels")
    one, other = (found.sum(axis=0) / found.sum() for found in sets)
    differences = (other - one).tolist()
    if min(int((found.sum(axis=1) > 0).sum()) for found in sets) < LEAST_TOPICS:
        return Transfer(None, [ShareDifference(value, None, None) for value in differences], _FEW)
    topics = len(sets[0])
    weights = count_topics(draw_topics(topics, draws, seed), topics)
    drawn = [weights @ found for found in sets]
    with np.errstate(invalid="ignore"):
        shares = [labels / labels.sum(axis=1, keepdims=True) for labels in drawn]
    low, high = np.nanpercentile(shares[1] - shares[0], [5, 95], axis=0)
    agrees = bool((low > -MARGIN).all() and (high < MARGIN).all())
    rows = zip(differences, low.tolist(), high.tolist(), strict=True)
    return Transfer(agrees, [ShareDifference(*row) for row in rows])


def _counts(counts: npt.ArrayLike) -> Counts:
    found = np.asarray(counts)
    if found.ndim != 3 or not all(found.shape[1:]):
        raise ValueError(f"counts are of topics, human and model labels, not {found.shape}")
    if (found < 0).any() or (found != np.floor(found)).any():
        raise ValueError("counts are whole numbers from 0 on")
    return found.astype(np.int64)
