"""Scores that are made of other figures, and those of other evaluations: formulas of a line or two."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import Figures

ALLOWANCE = 100  # characters for each nugget that an answer has


class Coverage(NamedTuple):
    """How well sentences are supported and how many nuggets are covered, with the F1 of both."""

    sentences: float
    nuggets: float
    f1: float


def f1(first: npt.ArrayLike, second: npt.ArrayLike) -> Figures:
    """Return the harmonic mean of scores such as weighted precision and nugget coverage; 0 where both are 0."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    total = x + y
    found: Figures = np.divide(2 * x * y, total, out=np.zeros(total.shape), where=total != 0)
    return found


def nugget_f(recall: float, nuggets: int, length: int, beta: float = 3) -> float:
    """Return the F of an answer's nugget recall and its length allowance.

    nuggets: all that it has, vital or not; length: its characters that are not blank. Precision is 1 within 100
    characters for each nugget, and falls with what is longer (Voorhees, TREC 2003 QA track).
    """
    allowance = ALLOWANCE * nuggets
    precision = 1.0 if length < allowance else 1 - (length - allowance) / length if length else 0.0
    weight = beta * beta
    below = weight * precision + recall
    return (weight + 1) * precision * recall / below if below else 0.0


def pyramid_recall(votes: Sequence[int], found: Sequence[int]) -> float:
    """Return nugget recall where each nugget weighs as many people as call it vital (Lin and Demner-Fushman, 2006).

    found: the places of those that the answer has. Weights relative to the largest cancel out.
    """
    total = sum(votes)
    return sum(votes[place] for place in found) / total if total else 0.0


def coverage(
    supported: npt.ArrayLike, sentences: npt.ArrayLike, covered: npt.ArrayLike, nuggets: npt.ArrayLike
) -> tuple[Coverage, Coverage]:
    """Return sentence support and nugget coverage over topics, from counts of each: (topics,) (AUTO-ARGUE).

    The first is micro (pooled counts, F1 of both), the second macro (means over topics, F1 within topics). Where there
    is nothing to divide by, a share is 0.
    """
    counts = [np.asarray(given, dtype=np.float64) for given in (supported, sentences, covered, nuggets)]
    of_sentences, of_nuggets = _share(*counts[:2]), _share(*counts[2:])
    macro = (of_sentences.mean(), of_nuggets.mean(), f1(of_sentences, of_nuggets).mean())
    pooled = [given.sum() for given in counts]
    both = _share(*pooled[:2]), _share(*pooled[2:])
    return Coverage(*map(float, (*both, f1(*both)))), Coverage(*map(float, macro))


def _share(part: npt.ArrayLike, whole: npt.ArrayLike) -> Figures:
    x, y = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    found: Figures = np.divide(x, y, out=np.zeros(y.shape), where=y != 0)
    return found
