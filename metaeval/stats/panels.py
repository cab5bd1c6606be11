"""Panels: one label, or score, from those of several judges.

Labels are codes as in agreement.py, in arrays (members, items), NO_VALUE where a member gave none. A quorum is how many
members must have labelled an item for the panel to have a label of it.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement import NO_VALUE
from metaeval.stats.means import Codes, Figures, within

LEAST_MEMBERS, LEAST_TOPICS = 3, 10  # of Dawid and Skene's model
SMOOTHING = 1.0  # pseudo-counts of each label in each row of a confusion matrix, and of each true label
TOLERANCE = 1e-8  # of probabilities between two steps
MOST_STEPS = 2_000
Flags = npt.NDArray[np.bool_]


class Rule(StrEnum):
    """How a panel's label follows from its members'."""

    MAJORITY = "majority"
    MEDIAN = "median"
    MEAN = "mean"
    UNANIMOUS = "unanimous"
    DAWID_SKENE = "dawid-skene"


class Ties(StrEnum):
    """Which of equally good labels is the panel's: the lowest, the highest, or none, and people decide."""

    STRICTER = "stricter"
    LENIENT = "lenient"
    PEOPLE = "people"


class PanelLabels(NamedTuple):
    """The labels of a panel, in arrays (items,).

    codes: NO_VALUE for none; is_open: whether that is since the rule leaves it to people, and not for want of labels.
    """

    codes: Codes
    is_open: Flags


class DawidSkene(NamedTuple):
    """What Dawid and Skene's model makes of labels.

    prior: of true labels, (labels,); confusion: (members, true labels, given labels), each row adds up to 1;
    posterior: (items, labels), that of the prior where no member labelled. steps: of the EM; has_converged: whether
    these were enough.
    """

    prior: Figures
    confusion: Figures
    posterior: Figures
    steps: int
    has_converged: bool


def majority(codes: npt.ArrayLike, labels: int, quorum: int, ties: Ties = Ties.STRICTER) -> PanelLabels:
    """Return the label that most members gave, be it fewer than half of them. ties: which of several such ones.

    codes: (members, items), from 0 to labels - 1, or NO_VALUE. Raises ValueError for others, and for a quorum that
    is not from 1 to the number of members.
    """
    given = _table(codes, labels, quorum)
    votes = _votes(given, labels)
    is_most = votes == votes.max(axis=1, keepdims=True)
    low, high = is_most.argmax(axis=1), labels - 1 - is_most[:, ::-1].argmax(axis=1)
    return _between(low, high, _has_quorum(given, quorum), ties)


def median(codes: npt.ArrayLike, labels: int, quorum: int, ties: Ties = Ties.STRICTER) -> PanelLabels:
    """Return the middle label in ascending order; ties: which of the two in the middle of an even number.

    The arguments, and what is raised, are those of majority().
    """
    given = _table(codes, labels, quorum)
    there = np.cumsum(_votes(given, labels), axis=1)
    size = there[:, -1]
    low, high = ((there >= at[:, np.newaxis]).argmax(axis=1) for at in ((size + 1) // 2, size // 2 + 1))
    return _between(low, high, _has_quorum(given, quorum), ties)


def unanimous(codes: npt.ArrayLike, labels: int, quorum: int) -> PanelLabels:
    """Return the label that all members gave, who gave one; where they differ, people decide.

    The arguments, and what is raised, are those of majority().
    """
    given = _table(codes, labels, quorum)
    low, high = np.where(given == NO_VALUE, labels, given).min(axis=0), given.max(axis=0)
    return _between(low, high, _has_quorum(given, quorum), Ties.PEOPLE)


def mean_scores(scores: npt.ArrayLike, is_complete: npt.ArrayLike, quorum: int) -> Figures:
    """Return the means of members' scores: (..., measures), NaN where fewer than a quorum of them have an answer's.

    scores: (members, ..., measures); is_complete: (members, ...), whether a member's labels of the answer are complete:
    others of its scores do not count. A measure that a complete member leaves undefined is so in the mean. It is the
    mean of labels' values wherever a measure is a mean of such values. Raises ValueError as majority() does, and for
    shapes that don't fit.
    """
    given, counts = np.asarray(scores, dtype=np.float64), np.asarray(is_complete, dtype=bool)
    if given.shape[:-1] != counts.shape:
        raise ValueError(f"scores {given.shape} do not fit {counts.shape} of members")
    _require_quorum(quorum, len(given))
    members = counts.sum(axis=0)
    total = np.where(counts[..., np.newaxis], given, 0.0).sum(axis=0)
    found: Figures = total / np.maximum(members, 1)[..., np.newaxis]
    found[members < quorum] = np.nan
    return found


def why_not(members: int, topics: int) -> str:
    """Say why so few members or topics can't be fitted by Dawid and Skene's model, or ""."""
    if members < LEAST_MEMBERS:
        return f"Dawid and Skene's model takes {LEAST_MEMBERS} members at least: two cannot tell who of them errs."
    if topics < LEAST_TOPICS:
        return f"Dawid and Skene's model takes labels of {LEAST_TOPICS} topics at least, and there are {topics}."
    return ""


def dawid_skene(
    codes: npt.ArrayLike, topic: npt.ArrayLike, labels: int, is_fitted: npt.ArrayLike | None = None
) -> DawidSkene:
    """Fit true labels and members' confusion matrices by EM (Dawid and Skene, Applied Statistics 1979).

    codes: (members, items), from 0 to labels - 1, or NO_VALUE; topic: (items,), any whole numbers; is_fitted: (items,),
    which items confusions and prior are fitted to, None for all; there are posteriors of all. The model takes errors of
    members to be independent given the true label. It starts from the majority, shared evenly where it ties, so that
    the same labels give the same result; SMOOTHING is added to all counts (a Dirichlet prior). Raises ValueError for
    other codes, and where why_not() has a reason; topics count on which two members labelled an item that is fitted.
    """
    given, of_topic = _table(codes, labels, 1), np.asarray(topic)
    fitted = np.ones(given.shape[1], dtype=bool) if is_fitted is None else np.asarray(is_fitted, dtype=bool)
    compared = fitted & _has_quorum(given, min(2, len(given)))
    if reason := why_not(len(given), len(np.unique(of_topic[compared]))):
        raise ValueError(reason)
    patterns, pattern = _patterns(given, labels)
    weights = np.bincount(pattern[fitted], minlength=patterns.shape[1]).astype(np.float64)
    is_given = patterns.T[..., np.newaxis] == np.arange(labels)  # (patterns, members, labels)
    votes = is_given.sum(axis=1)
    is_most = votes == votes.max(axis=1, keepdims=True)
    posterior = is_most / is_most.sum(axis=1, keepdims=True)
    weights[votes.sum(axis=1) == 0] = 0.0
    steps, change = 0, np.inf
    while change > TOLERANCE and steps < MOST_STEPS:
        weighted = posterior * weights[:, np.newaxis]
        prior = weighted.sum(axis=0) + SMOOTHING
        prior /= prior.sum()
        confusion = np.einsum("pt,pml->mtl", weighted, is_given) + SMOOTHING
        confusion /= confusion.sum(axis=2, keepdims=True)
        likelihood = np.log(prior) + np.einsum("pml,mtl->pt", is_given, np.log(confusion))
        likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
        renewed = likelihood / likelihood.sum(axis=1, keepdims=True)
        change, posterior, steps = float(np.abs(renewed - posterior).max(initial=0.0)), renewed, steps + 1
    return DawidSkene(prior, confusion, posterior[pattern], steps, change <= TOLERANCE)


def most_likely(codes: npt.ArrayLike, posterior: npt.ArrayLike, quorum: int, ties: Ties = Ties.STRICTER) -> PanelLabels:
    """Return the most probable labels of items; ties: which of several, to ten digits.

    posterior: (items, labels), as DawidSkene has it of these codes. Raises ValueError as majority() does.
    """
    chances = np.asarray(posterior, dtype=np.float64).round(10)
    given = _table(codes, chances.shape[1], quorum)
    is_most = chances == chances.max(axis=1, keepdims=True)
    low, high = is_most.argmax(axis=1), chances.shape[1] - 1 - is_most[:, ::-1].argmax(axis=1)
    return _between(low, high, _has_quorum(given, quorum), ties)


def _table(codes: npt.ArrayLike, labels: int, quorum: int) -> Codes:
    given = within(codes, NO_VALUE, labels - 1, "codes")
    if given.ndim != 2:
        raise ValueError("codes are a table of members and items")
    _require_quorum(quorum, len(given))
    return given.astype(np.int8)


def _require_quorum(quorum: int, members: int) -> None:
    if not 1 <= quorum <= members:
        raise ValueError(f"a quorum of {members} members is from 1 to {members}")


def _has_quorum(given: Codes, quorum: int) -> Flags:
    found: Flags = (given != NO_VALUE).sum(axis=0) >= quorum
    return found


def _votes(given: Codes, labels: int) -> npt.NDArray[np.int64]:
    """Count how many members gave each label: (items, labels)."""
    return np.stack([(given == label).sum(axis=0) for label in range(labels)], axis=1)


def _between(low: npt.ArrayLike, high: npt.ArrayLike, has_quorum: Flags, ties: Ties) -> PanelLabels:
    """Return one of two labels of each item, by the rule for ties where they differ."""
    least, most = np.asarray(low, dtype=np.int8), np.asarray(high, dtype=np.int8)
    is_open = has_quorum & (least != most) & (ties == Ties.PEOPLE)
    chosen = most if ties == Ties.LENIENT else least
    return PanelLabels(np.where(has_quorum & ~is_open, chosen, np.int8(NO_VALUE)), is_open)


def _patterns(given: Codes, labels: int) -> tuple[Codes, npt.NDArray[np.intp]]:
    """Return the different columns of a table, and of each column which of them it is."""
    digits = (labels + 1) ** np.arange(len(given), dtype=np.int64)
    numbers = digits @ (given.astype(np.int64) + 1)
    _, first, pattern = np.unique(numbers, return_index=True, return_inverse=True)
    return given[:, first], pattern
