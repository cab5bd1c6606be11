"""The two-way layout of runs and topics: what of it is compared where cells are missing."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import COMPLETE, INCOMPLETE, OUTSIDE, UNANSWERED, Figures, Policy, counted

LEAST_SHARE = 0.5  # of the topics, which a run must have answered to be compared under Cells.MOST


class Cells(StrEnum):
    """What is compared where a run did not answer a topic.

    ZERO: it counts 0; MOST: too, but runs that answered too few topics are left out; ANSWERED: it does not count;
    COMMON: topics on which a run has no score are left out. The first and the last two are those of Policy.
    """

    ZERO = "zero"
    MOST = "most"
    ANSWERED = "answered"
    COMMON = "common"


class Layout(NamedTuple):
    """The scores that are compared: (runs, topics), NaN where a cell does not count.

    runs, topics: their places among all. unjudged: how many cells are not judged or lack labels, and unanswered: how
    many answers were not submitted, both of these runs and topics.
    """

    scores: Figures
    runs: npt.NDArray[np.intp]
    topics: npt.NDArray[np.intp]
    unjudged: int
    unanswered: int


def lay_out(scores: npt.ArrayLike, states: npt.ArrayLike, cells: Cells, least_share: float = LEAST_SHARE) -> Layout:
    """Return what of a measure's scores is compared. scores, states: (runs, topics), as means.run_scores() has them.

    A cell that is not judged, or not completely, never counts 0. A topic that leaves the measure undefined for all
    runs is left out. least_share: of the topics on which a run is to be judged.
    """
    of_cells = np.asarray(states)
    policy = Policy.ZERO if cells == Cells.MOST else Policy(cells)
    counting = counted(np.asarray(scores, dtype=np.float64)[..., np.newaxis], of_cells, policy)[..., 0]
    keeps_run = np.ones(len(of_cells), dtype=bool)
    if cells == Cells.MOST:
        answered = np.isin(of_cells, (COMPLETE, INCOMPLETE)).sum(axis=1)
        keeps_run = answered >= least_share * (of_cells != OUTSIDE).sum(axis=1)
    is_there = ~np.isnan(counting[keeps_run])
    keeps_topic = is_there.all(axis=0) if cells == Cells.COMMON else is_there.any(axis=0)
    kept = np.ix_(keeps_run, keeps_topic)
    return Layout(
        counting[kept],
        np.flatnonzero(keeps_run),
        np.flatnonzero(keeps_topic),
        int(np.isin(of_cells[kept], (INCOMPLETE, OUTSIDE)).sum()),
        int((of_cells[kept] == UNANSWERED).sum()),
    )
