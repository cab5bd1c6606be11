"""The scores of one side of a comparison, from a condition or from a file, as arrays with names."""

from typing import NamedTuple

import numpy as np

from metaeval.stats.levels import paired
from metaeval.stats.means import Figures, Policy

CONTROL = "control"  # the task of runs that are no system's
# How a topic counts that a run did not answer. Policy.COMMON is of one table: both sides have topics in common anyway.
POLICIES = (Policy.ZERO, Policy.ANSWERED)


class Scored(NamedTuple):
    """The scores of runs by some measures.

    tasks: of the runs, "" where unknown. cells: (runs, topics, measures), NaN where a cell does not count; no topics
    where only means are known. means: (runs, measures), over all topics of this side.
    """

    name: str
    runs: list[str]
    tasks: list[str]
    topics: list[str]
    measures: list[str]
    cells: Figures
    means: Figures


class LeftOut(NamedTuple):
    """What only one side has, by name. controls: runs that are no system's, on either side."""

    runs: tuple[list[str], list[str]]
    topics: tuple[list[str], list[str]]
    measures: tuple[list[str], list[str]]
    controls: list[str]


class Pair(NamedTuple):
    """Two sides over the same runs, topics and measures, in the same order, and what was left out to get there.

    Without topics in common there are means alone, over whatever topics each side has.
    """

    first: Scored
    second: Scored
    left_out: LeftOut


def match(first: Scored, second: Scored) -> Pair:
    """Return both sides over what they have in common: runs and topics by name, measures in the first one's order.

    A cell that does not count on one side counts on neither.
    """
    told = [pair for side in (first, second) for pair in zip(side.runs, side.tasks, strict=True)]
    controls = {run for run, task in told if task == CONTROL}
    runs = sorted((set(first.runs) & set(second.runs)) - controls)
    topics = sorted(set(first.topics) & set(second.topics))
    measures = [measure for measure in first.measures if measure in second.measures]

    def only(field: str) -> tuple[list[str], list[str]]:
        one, other = set(getattr(first, field)), set(getattr(second, field))
        return sorted(one - other - controls), sorted(other - one - controls)

    known = {run: task for run, task in reversed(told) if task}  # the first side's word goes before the second's
    tasks = [known.get(run, "") for run in runs]
    left_out = LeftOut(only("runs"), only("topics"), only("measures"), sorted(controls))
    one, other = (_part(side, runs, tasks, topics, measures) for side in (first, second))
    cells = paired(one.cells, other.cells)
    return Pair(one._replace(cells=cells[0]), other._replace(cells=cells[1]), left_out)


def _part(side: Scored, runs: list[str], tasks: list[str], topics: list[str], measures: list[str]) -> Scored:
    at_runs, at_topics, at_measures = (
        np.array([place[name] for name in wanted], dtype=np.intp)
        for names, wanted in ((side.runs, runs), (side.topics, topics), (side.measures, measures))
        for place in [{name: at for at, name in enumerate(names)}]
    )
    cells = side.cells[np.ix_(at_runs, at_topics, at_measures)]
    return Scored(side.name, runs, tasks, topics, measures, cells, side.means[np.ix_(at_runs, at_measures)])
