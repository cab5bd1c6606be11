"""How many topics are enough: how tau of runs grows with their number."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.bootstrap import Interval, interval
from metaeval.stats.correlation import taus
from metaeval.stats.levels import pair_scores, run_means

_SIZES = 30  # at most, unless told otherwise


class CurvePoint(NamedTuple):
    """Tau of runs on random subsets of so many topics: the mean over the subsets, and their percentiles."""

    topics: int
    tau: Interval


def topics_needed(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    sizes: Iterable[int] | None = None,
    *,
    seed: int,
    draws: int = 1000,
    confidence: float = 0.95,
) -> list[CurvePoint]:
    """Return the curve of tau-b of runs between two conditions, by the number of topics.

    first, second: (runs, topics), NaN where a cell does not count. sizes: numbers of topics, by default 30 at even
    distances up to all. Subsets are drawn without replacement, seeded, the same for both sides; a draw's larger subsets
    contain its smaller ones. Near all topics the subsets are nearly the same, so the band narrows to nothing there: it
    is about these topics, not about others. Raises ValueError for a size that cannot be drawn.
    """
    x, y = pair_scores(first, second)
    topics = x.shape[1]
    wanted = _even(topics) if sizes is None else sorted(set(sizes))
    if wanted and not 1 <= wanted[0] <= wanted[-1] <= topics:
        raise ValueError(f"of {topics} topics no {wanted[0] if wanted[0] < 1 else wanted[-1]} can be drawn")
    order = np.random.default_rng(seed).permuted(np.tile(np.arange(topics), (draws, 1)), axis=1)
    curve = []
    for size in wanted:
        drawn = (order < size).astype(np.float64)
        found = taus(run_means(x, drawn), run_means(y, drawn))
        curve.append(CurvePoint(size, interval(found, confidence)))
    return curve


def _even(topics: int) -> list[int]:
    return np.unique(np.linspace(min(1, topics), topics, _SIZES).round().astype(int)).tolist() if topics else []
