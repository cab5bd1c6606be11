"""Means: the scores of runs from those of their answers."""

from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

Figures = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int8]
DIGITS = 10  # after the point, of scores in files

# Whether a run answered a topic, and if so whether the answer has all the labels that its scores need; or that it is
# not judged there at all, as it is planned.
UNANSWERED, COMPLETE, INCOMPLETE, OUTSIDE = 0, 1, 2, 3


class Policy(StrEnum):
    """How a topic counts that a run did not answer: as 0, not at all, or for no run at all."""

    ZERO = "zero"
    ANSWERED = "answered"
    COMMON = "common"


OVER = ("minimum", "median", "maximum")  # what tables call the rows of spread()


def run_scores(scores: npt.ArrayLike, states: npt.ArrayLike, policy: Policy) -> Figures:
    """Return the scores of runs, each the mean over topics: (runs, columns).

    scores: (runs, topics, columns), NaN where undefined; states: (runs, topics). An INCOMPLETE or OUTSIDE cell
    never counts. An UNANSWERED one counts with the scores that stand there, those of an empty answer: 0, or NaN in a
    measure that the topic leaves undefined for all; under the other policies it does not count. A run with nothing
    that counts has NaN. Which topics are in common is not for a single run to say: see topics_in_common().
    """
    cells = counted(scores, states, policy)
    return mean(cells, axis=1)


def run_errors(scores: npt.ArrayLike, states: npt.ArrayLike, policy: Policy) -> Figures:
    """Return the standard errors of run_scores() over topics; the arguments, and what counts, are as there."""
    return standard_error(counted(scores, states, policy), axis=1)


def spread(scores: npt.ArrayLike, states: npt.ArrayLike, policy: Policy) -> Figures:
    """Return the means over topics of the least, median and largest score of a topic over runs: (3, columns).

    The arguments, and what counts, are as for run_scores; so where an unanswered topic counts 0, it does here. A topic
    on which nothing counts is left out.
    """
    return mean(topic_spread(scores, states, policy), axis=1)


def topic_spread(scores: npt.ArrayLike, states: npt.ArrayLike, policy: Policy) -> Figures:
    """Return the least, median and largest score of each topic over runs: (3, topics, columns), as for spread."""
    cells = counted(scores, states, policy)
    if not len(cells):
        return np.full((3, *cells.shape[1:]), np.nan)
    in_order = np.sort(cells, axis=0)  # NaN comes last
    size = (~np.isnan(cells)).sum(axis=0)
    last = np.maximum(size - 1, 0)

    def at(place: npt.NDArray[Any]) -> Figures:
        found: Figures = np.take_along_axis(in_order, place[np.newaxis], axis=0)[0]
        return found

    return np.stack([in_order[0], (at(last // 2) + at(size // 2)) / 2, at(last)])


def counted(scores: npt.ArrayLike, states: npt.ArrayLike, policy: Policy) -> Figures:
    """Return scores with NaN in place of those that don't count; the arguments are as for run_scores."""
    of_cells = within(states, UNANSWERED, OUTSIDE, "states")
    counts = of_cells == COMPLETE
    if policy == Policy.ZERO:
        counts |= of_cells == UNANSWERED
    found: Figures = np.where(counts[..., np.newaxis], np.asarray(scores, dtype=np.float64), np.nan)
    return found


def topics_in_common(states: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return of each topic whether all runs answered it and are judged on it; states: (runs, topics)."""
    of_cells = within(states, UNANSWERED, OUTSIDE, "states")
    return np.asarray(~np.isin(of_cells, (UNANSWERED, OUTSIDE)).any(axis=0))


def within(values: npt.ArrayLike, least: int, most: int, what: str) -> npt.NDArray[Any]:
    """Return values as an array. Raises ValueError where one is no whole number from least to most."""
    found = np.asarray(values)
    is_within = (found >= least) & (found <= most)
    if found.dtype.kind == "f":
        is_within &= found == np.floor(found)
    if not is_within.all():
        raise ValueError(f"{what} are whole numbers from {least} to {most}")
    return found


def mean(values: Figures, axis: int) -> Figures:
    """Return the mean of what is not NaN; NaN where there is nothing else."""
    there = ~np.isnan(values)
    size = there.sum(axis=axis)
    total = np.where(there, values, 0).sum(axis=axis)
    found: Figures = np.divide(total, size, out=np.full(total.shape, np.nan), where=size > 0)
    return found


def standard_error(values: Figures, axis: int) -> Figures:
    """Return the standard error of mean(): stdev / sqrt(n) of the n that are not NaN, stdev with n - 1.

    NaN where they are fewer than two.
    """
    size = (~np.isnan(values)).sum(axis=axis)
    squares = np.nansum((values - np.expand_dims(mean(values, axis), axis)) ** 2, axis=axis)
    found: Figures = np.sqrt(np.divide(squares, size * (size - 1), out=np.full(size.shape, np.nan), where=size > 1))
    return found
