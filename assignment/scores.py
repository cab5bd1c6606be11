"""Nugget scores of answers and of runs: pure functions on arrays, without a database, usable from a notebook.

The measures are those of the TREC 2024 RAG track (arXiv 2411.09607); docs/scores.md says what was decided where the
paper is silent. Of nuggets a label is SUPPORT, PARTIAL, NOT_SUPPORT or MISSING, and the importance VITAL, OKAY or
ABSENT.
"""

from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

Figures = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int8]

SUPPORT, PARTIAL, NOT_SUPPORT, MISSING = 2, 1, 0, -1
VITAL, OKAY, ABSENT = 1, 0, -1
# Whether a run answered a topic, and if so whether each nugget has a label there.
UNANSWERED, COMPLETE, INCOMPLETE = 0, 1, 2
MEASURES = ("vstrict", "v", "wstrict", "w", "astrict", "a")
COLUMNS = (*MEASURES, "length")
_BY_IMPORTANCE = 4  # of the measures, which need each nugget's importance


class Policy(StrEnum):
    """How a topic counts that a run did not answer: as 0, or not at all."""

    ZERO = "zero"
    ANSWERED = "answered"


def answer_scores(labels: npt.ArrayLike, importance: npt.ArrayLike) -> Figures:
    """Return the scores of answers to one topic: (answers, MEASURES).

    labels: (answers, nuggets); importance: (nuggets,). With s = 1 for SUPPORT and 0 for NOT_SUPPORT, and 0.5 for
    PARTIAL where the measure is not strict (there 0), each is a weighted mean of s over the nuggets: V weighs a vital
    one 1 and an okay one 0, W 1 and 0.5, A both 1.

    Where no nugget has weight (no vital one for V, none at all for W and A) the mean is 0, as the track's tools have
    it; arrays.py counts no topic without nuggets. An answer with a MISSING label has no score: NaN in all six. Where a
    nugget's importance is ABSENT, V and W are NaN for every answer, and A stands. Raises ValueError for any other label
    or importance.
    """
    given = _within(labels, MISSING, SUPPORT, "labels")
    weighed = _within(importance, ABSENT, VITAL, "importance")
    if given.ndim != 2 or given.shape[1:] != weighed.shape:
        raise ValueError(f"{given.shape} labels don't fit {weighed.shape} nuggets")
    vital, okay = weighed == VITAL, weighed == OKAY
    weights = np.stack([vital, vital + okay / 2, np.ones(len(weighed))])
    total = weights.sum(axis=1)
    s = np.stack([given == SUPPORT, given.clip(NOT_SUPPORT) / SUPPORT])  # strict and not
    means = np.einsum("ian,wn->awi", s, weights) / np.where(total, total, 1)[:, np.newaxis]
    scores: Figures = means.reshape(len(given), len(MEASURES))
    scores[(given == MISSING).any(axis=1)] = np.nan
    if (weighed == ABSENT).any():
        scores[:, :_BY_IMPORTANCE] = np.nan
    return scores


def run_scores(scores: npt.ArrayLike, states: npt.ArrayLike, policy: Policy) -> Figures:
    """Return the scores of runs, each the mean over topics: (runs, columns).

    scores: (runs, topics, columns), NaN where undefined; states: (runs, topics). An INCOMPLETE cell never counts. An
    UNANSWERED one counts with the scores that stand there, those of an empty answer: 0, or NaN in a measure that the
    topic leaves undefined for all; under Policy.ANSWERED it does not count. A run with nothing that counts has NaN.
    """
    counted = _counted(scores, states, policy)
    return _mean(counted, axis=1)


def spread(scores: npt.ArrayLike, states: npt.ArrayLike, policy: Policy) -> Figures:
    """Return the means over topics of the least, median and largest score of a topic over runs: (3, columns).

    The arguments, and what counts, are as for run_scores; so where an unanswered topic counts 0, it does here. A topic
    on which nothing counts is left out.
    """
    counted = _counted(scores, states, policy)
    if not len(counted):
        return np.full((3, counted.shape[2]), np.nan)
    in_order = np.sort(counted, axis=0)  # NaN comes last
    size = (~np.isnan(counted)).sum(axis=0)
    last = np.maximum(size - 1, 0)

    def at(place: npt.NDArray[Any]) -> Figures:
        found: Figures = np.take_along_axis(in_order, place[np.newaxis], axis=0)[0]
        return found

    of_topics = np.stack([in_order[0], (at(last // 2) + at(size // 2)) / 2, at(last)])
    return _mean(of_topics, axis=1)


def _within(values: npt.ArrayLike, least: int, most: int, what: str) -> npt.NDArray[Any]:
    """Return values as an array. Raises ValueError where one is no whole number from least to most."""
    found = np.asarray(values)
    if not np.isin(found, range(least, most + 1)).all():
        raise ValueError(f"{what} are whole numbers from {least} to {most}")
    return found


def _counted(scores: npt.ArrayLike, states: npt.ArrayLike, policy: Policy) -> Figures:
    """Return the scores with NaN in place of those that don't count."""
    of_cells = _within(states, UNANSWERED, INCOMPLETE, "states")
    counts = of_cells == COMPLETE if policy == Policy.ANSWERED else of_cells != INCOMPLETE
    found: Figures = np.where(counts[..., np.newaxis], np.asarray(scores, dtype=np.float64), np.nan)
    return found


def _mean(values: Figures, axis: int) -> Figures:
    """Return the mean of what is not NaN; NaN where there is nothing else."""
    there = ~np.isnan(values)
    size = there.sum(axis=axis)
    total = np.where(there, values, 0).sum(axis=axis)
    found: Figures = np.divide(total, size, out=np.full(total.shape, np.nan), where=size > 0)
    return found
