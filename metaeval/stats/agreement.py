"""Agreement of labels: functions on arrays of codes.

A label is its place in the fixed order of its vocabulary, from 0 for the least: not_support 0, partial_support 1,
support 2; none 0, partial 1, full 2; a grade is itself. Of a pair, the first label is the human's (or any judge's), the
second the model's (or any other one's). Arrays of pairs hold pairs that both judges labelled, matched by the caller.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import Figures, within
from metaeval.stats.statistic import Statistic, undefined

Counts = npt.NDArray[np.int64]
NO_VALUE = -1  # in alpha: the judge gave this unit no label

_NO_PAIRS = "no pairs"
_ONE_LABEL = "only one label was used"


class Weights(StrEnum):
    """How much a disagreement weighs in kappa: each alike, by its distance in labels, or by the square of that."""

    UNWEIGHTED = "unweighted"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


class Level(StrEnum):
    """How alpha takes labels: as mere names, as ranks, or as numbers at even distances."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


class Agreement(NamedTuple):
    """How far two judges agree. matrix: rows the first, columns the second; rates are shares of all pairs.

    above: the second is more lenient; below: it is stricter.
    """

    matrix: Counts
    match: Statistic
    above: Statistic
    below: Statistic
    unweighted: Statistic
    linear: Statistic
    quadratic: Statistic


def confusion_matrix(first: npt.ArrayLike, second: npt.ArrayLike, labels: int) -> Counts:
    """Count pairs of labels: (labels, labels), rows the first judge's, columns the second's.

    first, second: (pairs,), codes from 0 to labels - 1. Raises ValueError for others, and for unequal lengths.
    """
    rows, columns = _codes(first, labels), _codes(second, labels)
    if rows.shape != columns.shape:
        raise ValueError(f"{len(rows)} labels don't pair with {len(columns)}")
    return np.bincount(rows * labels + columns, minlength=labels * labels).reshape(labels, labels)


def count_labels(codes: npt.ArrayLike, labels: int) -> Counts:
    """Count how often each label was given: (labels,). Raises ValueError for codes that are no label's."""
    return np.bincount(_codes(codes, labels), minlength=labels)


def percent(counts: npt.ArrayLike) -> Figures:
    """Return counts of any shape as percent of their sum; NaN where that is 0."""
    given = np.asarray(counts, dtype=np.float64)
    total = given.sum()
    return given * 100 / total if total else np.full(given.shape, np.nan)


def match_rate(first: npt.ArrayLike, second: npt.ArrayLike, labels: int) -> Statistic:
    """Return the share of pairs with equal labels. The arguments are those of confusion_matrix."""
    return rate_agreement(confusion_matrix(first, second, labels)).match


def cohen_kappa(
    first: npt.ArrayLike, second: npt.ArrayLike, labels: int, weights: Weights = Weights.UNWEIGHTED
) -> Statistic:
    """Return Cohen's kappa of two judges. The arguments are those of confusion_matrix; see kappa."""
    return kappa(confusion_matrix(first, second, labels), weights)


def merge_labels(matrix: npt.ArrayLike, starts: Sequence[int]) -> Counts:
    """Return a confusion matrix of coarser labels. starts: the first label of each, from 0."""
    counts = _square(matrix)
    return np.add.reduceat(np.add.reduceat(counts, starts, axis=0), starts, axis=1)


def rate_agreement(matrix: npt.ArrayLike, why_not: str = "") -> Agreement:
    """Return what a confusion matrix tells of agreement; with a reason why it tells nothing, only that.

    Raises ValueError where it is no confusion matrix.
    """
    counts = _square(matrix)
    pairs = int(counts.sum())
    if why_not:
        return Agreement(counts, *[undefined(pairs, why_not)] * (len(Agreement._fields) - 1))

    def rate(part: Counts) -> Statistic:
        return Statistic(int(part.sum()) / pairs, pairs) if pairs else undefined(0, _NO_PAIRS)

    return Agreement(
        matrix=counts,
        match=rate(np.diagonal(counts)),
        above=rate(np.triu(counts, 1)),
        below=rate(np.tril(counts, -1)),
        unweighted=kappa(counts, Weights.UNWEIGHTED),
        linear=kappa(counts, Weights.LINEAR),
        quadratic=kappa(counts, Weights.QUADRATIC),
    )


def kappa(matrix: npt.ArrayLike, weights: Weights = Weights.UNWEIGHTED) -> Statistic:
    """Return Cohen's kappa, 1 - observed / expected disagreement, of a confusion matrix over an ordered label set.

    A pair of labels disagrees by 1, by their distance, or by its square (Cohen 1960 and 1968); labels that nobody used
    keep their places. Undefined where both judges used one and the same label alone: nothing could have differed.
    """
    counts = _square(matrix)
    pairs = int(counts.sum())
    if not pairs:
        return undefined(0, _NO_PAIRS)
    places = np.arange(len(counts))
    distance = np.abs(places[:, np.newaxis] - places)
    disagrees = {Weights.UNWEIGHTED: distance > 0, Weights.LINEAR: distance, Weights.QUADRATIC: distance**2}[weights]
    expected = int((np.outer(counts.sum(axis=1), counts.sum(axis=0)) * disagrees).sum())
    if not expected:
        return undefined(pairs, _ONE_LABEL)
    return Statistic(1 - int((counts * disagrees).sum()) * pairs / expected, pairs)


def krippendorff_alpha(codes: npt.ArrayLike, labels: int, level: Level = Level.NOMINAL) -> Statistic:
    """Return alpha at one level; the arguments are those of krippendorff_alphas."""
    return krippendorff_alphas(codes, labels, [level])[level]


def krippendorff_alphas(codes: npt.ArrayLike, labels: int, levels: Collection[Level]) -> dict[Level, Statistic]:
    """Return Krippendorff's alpha, 1 - observed / expected disagreement, over any number of judges, at some levels.

    codes: (judges, units), from 0 to labels - 1, or NO_VALUE. Units with fewer than two values are dropped; n is the
    number of those left. Source: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011). Undefined where no
    unit or one label is left. Raises ValueError for other codes.
    """
    given = within(codes, NO_VALUE, labels - 1, "codes")
    if given.ndim != 2:
        raise ValueError("codes are a table of judges and units")
    by_unit = np.stack([(given == label).sum(axis=0, dtype=np.int32) for label in range(labels)])  # (labels, units)
    sizes = by_unit.sum(axis=0, dtype=np.int32)
    coincidences, by_label, units = np.zeros((labels, labels)), np.zeros(labels), 0
    for size in range(2, len(given) + 1):
        values = by_unit[:, sizes == size].astype(np.float64)
        coincidences += (values @ values.T - np.diag(values.sum(axis=1))) / (size - 1)
        by_label += values.sum(axis=1)
        units += values.shape[1]
    if not units:
        return dict.fromkeys(levels, undefined(0, "no unit has two values"))

    def alpha(disagrees: Figures) -> Statistic:
        expected = (np.outer(by_label, by_label) * disagrees).sum()
        if not expected:
            return undefined(units, _ONE_LABEL)
        return Statistic(float(1 - (coincidences * disagrees).sum() * (by_label.sum() - 1) / expected), units)

    return {level: alpha(_distances(by_label, level)) for level in levels}


def _distances(by_label: Figures, level: Level) -> Figures:
    """Return how much two labels disagree; as ranks, by the square of how many values lie from one to the other."""
    if level == Level.NOMINAL:
        return 1 - np.eye(len(by_label))
    up_to_the_middle = np.cumsum(by_label) - by_label / 2  # of each label's values
    place = up_to_the_middle if level == Level.ORDINAL else np.arange(len(by_label))
    return (place[:, np.newaxis] - place).astype(np.float64) ** 2


def _codes(codes: npt.ArrayLike, labels: int) -> npt.NDArray[np.intp]:
    given = within(codes, 0, labels - 1, "codes")
    if given.ndim != 1:
        raise ValueError("codes are a list")
    return given.astype(np.intp)


def _square(matrix: npt.ArrayLike) -> Counts:
    counts = np.asarray(matrix)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not counts.size:
        raise ValueError(f"a confusion matrix is square, not {counts.shape}")
    if (counts < 0).any() or (counts != np.floor(counts)).any():
        raise ValueError("a confusion matrix holds counts")
    return counts.astype(np.int64)
