"""Drift of a judge: labels of a control set that was asked again, beside its first labels.

A cell is what one request labels, such as the nuggets of an answer: its labels change together, so cells are counted
as independent, and labels are not.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement import NO_VALUE, confusion_matrix, kappa
from metaeval.stats.means import Codes
from metaeval.stats.statistic import Statistic

PASSES = 3  # the first ones, which say how often labels differ without drift
LOOKS = 26  # half a year of weeks
ALPHA = 0.05 / LOOKS  # of each test, so that LOOKS of them together are false with at most 5 %


class Drift(NamedTuple):
    """What a pass over a control set found.

    cells, labels: how many could be compared; flips: labels other than the first ones; expected: flips of an earlier
    pass, on average; p: None for the first pass, which is beside no other.
    """

    cells: int
    labels: int
    flips: int
    expected: float | None
    kappa: Statistic
    p: float | None

    @property
    def is_alarm(self) -> bool:
        """Whether labels differ more often than before."""
        return self.p is not None and self.p <= ALPHA


def compare_flips(now: npt.ArrayLike, before: npt.ArrayLike) -> float:
    """Return the exact probability of as many flips as now, or more, where nothing has changed since earlier passes.

    now: (cells,), whole numbers; before: (passes, cells). Without drift, which of a cell's passes is the last one is a
    matter of chance: the sum over cells is that of one number of each cell, all equally likely (a permutation test in
    blocks, Lehmann and Romano 2005, section 15.2). One earlier pass and one label a cell make it McNemar's exact test.
    Raises ValueError for arrays that do not fit.
    """
    last, earlier = np.asarray(now, dtype=np.intp), np.asarray(before, dtype=np.intp)
    if last.ndim != 1 or earlier.ndim != 2 or earlier.shape[1] != len(last) or not len(earlier):
        raise ValueError("each cell has a number of flips in each pass, and there is an earlier pass")
    chances = np.ones(1)
    passes = np.vstack([earlier, last[None]]).T
    for of_cell in passes[passes.any(axis=1)]:
        chances = np.convolve(chances, np.bincount(of_cell) / len(of_cell))
    return float(min(1.0, chances[int(last.sum()) :].sum()))


def find_drift(
    first: npt.ArrayLike, now: npt.ArrayLike, before: Sequence[npt.ArrayLike], cells: npt.ArrayLike
) -> Drift:
    """Compare the labels of a pass with the first ones, and how many flipped with how many did in earlier passes.

    first, now: (labels,), codes from 0; before: (passes, labels), maybe none; cells: (labels,), the key of each one's
    cell. A cell of which any pass lacks a label (NO_VALUE) is left out.
    """
    codes, keys = np.asarray(cells), np.asarray(first)
    every = np.vstack([keys, np.asarray(now), np.asarray(before, dtype=np.intp).reshape(len(before), len(keys))])
    lacking = np.unique(codes[(every == NO_VALUE).any(axis=0)])
    is_whole = ~np.isin(codes, lacking)
    _, of_label = np.unique(codes[is_whole], return_inverse=True)
    reference: Codes = every[0, is_whole]
    number = int(of_label.max()) + 1 if len(of_label) else 0
    flips = np.array([np.bincount(of_label[row != reference], minlength=number) for row in every[1:, is_whole]])
    labels = int(every.max(initial=0)) + 1
    earlier = flips[1:]
    return Drift(
        number,
        len(reference),
        int(flips[0].sum()),
        float(earlier.sum(axis=1).mean()) if len(earlier) else None,
        kappa(confusion_matrix(reference, every[1, is_whole], labels)),
        compare_flips(flips[0], earlier) if len(earlier) and number else None,
    )
