"""Nugget scores of answers and of runs: pure functions on arrays, without a database, usable from a notebook.

The measures are those of the TREC 2024 RAG track (arXiv 2411.09607); docs/scores.md says what was decided where the
paper is silent. Of nuggets a label is SUPPORT, PARTIAL, NOT_SUPPORT or MISSING, and the importance VITAL, OKAY or
ABSENT.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import COMPLETE as COMPLETE  # for notebooks: with what scores of runs are made, too
from metaeval.stats.means import INCOMPLETE as INCOMPLETE
from metaeval.stats.means import UNANSWERED as UNANSWERED
from metaeval.stats.means import Figures, within
from metaeval.stats.means import Policy as Policy
from metaeval.stats.means import run_scores as run_scores
from metaeval.stats.means import spread as spread

SUPPORT, PARTIAL, NOT_SUPPORT, MISSING = 2, 1, 0, -1
VITAL, OKAY, ABSENT = 1, 0, -1
MEASURES = ("vstrict", "v", "wstrict", "w", "astrict", "a")
COLUMNS = (*MEASURES, "length")
_BY_IMPORTANCE = 4  # of the measures, which need each nugget's importance


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
    given = within(labels, MISSING, SUPPORT, "labels")
    weighed = within(importance, ABSENT, VITAL, "importance")
    if given.ndim != 2 or given.shape[1:] != weighed.shape:
        raise ValueError(f"{given.shape} labels don't fit {weighed.shape} nuggets")
    weights, s = nugget_weights(weighed), label_values(given)
    total = weights.sum(axis=1)
    means = np.einsum("ian,wn->awi", s, weights) / np.where(total, total, 1)[:, np.newaxis]
    scores: Figures = means.reshape(len(given), len(MEASURES))
    scores[(given == MISSING).any(axis=1)] = np.nan
    if (weighed == ABSENT).any():
        scores[:, :_BY_IMPORTANCE] = np.nan
    return scores


def label_values(labels: npt.NDArray[Any]) -> Figures:
    """Return what labels count, in the strict measures and in the others: (2, ...)."""
    found: Figures = np.stack([labels == SUPPORT, labels.clip(NOT_SUPPORT) / SUPPORT])
    return found


def nugget_weights(importance: npt.NDArray[Any]) -> Figures:
    """Return what nuggets weigh in V, W and A: (3, nuggets)."""
    vital, okay = importance == VITAL, importance == OKAY
    return np.stack([vital, vital + okay / 2, np.ones(len(importance))])
