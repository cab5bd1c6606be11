"""Score matrices: the scores of runs on topics by some measures, with names; and two of them matched."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metaeval.stats.levels import pair_scores
from metaeval.stats.means import Figures, Policy

CONTROL = "control"  # the task of runs that are no system's
# How a topic counts that a run did not answer. Matched scores are of topics in common anyway, so not Policy.COMMON.
POLICIES = (Policy.ZERO, Policy.ANSWERED)


class ScoreMatrix(NamedTuple):
    """The scores of runs by some measures.

    tasks: of the runs, "" where unknown. cells: (runs, topics, measures), NaN where a cell does not count; no topics
    where only means are known. means: (runs, measures), over all of these topics. relative: the measures that depend on
    the set of runs that are scored, and run_set: what names it.
    """

    name: str
    runs: list[str]
    tasks: list[str]
    topics: list[str]
    measures: list[str]
    cells: Figures
    means: Figures
    relative: Sequence[str] = ()
    run_set: str = ""


class LeftOut(NamedTuple):
    """What only the reference, or only the candidate, has: by name. controls: runs that are no system's, in either."""

    runs: tuple[list[str], list[str]]
    topics: tuple[list[str], list[str]]
    measures: tuple[list[str], list[str]]
    controls: list[str]


class MatchedScores(NamedTuple):
    """A reference and a candidate over the same runs, topics and measures, in the same order, and what was left out.

    Without topics in common there are means alone, over whatever topics each has.
    """

    reference: ScoreMatrix
    candidate: ScoreMatrix
    left_out: LeftOut


def match(reference: ScoreMatrix, candidate: ScoreMatrix) -> MatchedScores:
    """Restrict both to what they have in common: runs and topics by name, measures in the reference's order.

    A cell that does not count in one counts in neither.
    """
    both = (reference, candidate)
    run_tasks = [pair for matrix in both for pair in zip(matrix.runs, matrix.tasks, strict=True)]
    controls = {run for run, task in run_tasks if task == CONTROL}
    runs = sorted((set(reference.runs) & set(candidate.runs)) - controls)
    topics = sorted(set(reference.topics) & set(candidate.topics))
    measures = [measure for measure in reference.measures if measure in candidate.measures]

    def only(field: str) -> tuple[list[str], list[str]]:
        one, other = (set(getattr(matrix, field)) for matrix in both)
        return sorted(one - other - controls), sorted(other - one - controls)

    known = {run: task for run, task in reversed(run_tasks) if task}  # the reference's task goes before the candidate's
    tasks = [known.get(run, "") for run in runs]
    left_out = LeftOut(only("runs"), only("topics"), only("measures"), sorted(controls))
    one, other = (_restrict(matrix, runs, tasks, topics, measures) for matrix in both)
    cells = pair_scores(one.cells, other.cells)
    return MatchedScores(one._replace(cells=cells[0]), other._replace(cells=cells[1]), left_out)


def _restrict(
    matrix: ScoreMatrix, runs: list[str], tasks: list[str], topics: list[str], measures: list[str]
) -> ScoreMatrix:
    at_runs, at_topics, at_measures = (
        np.array([place[name] for name in wanted], dtype=np.intp)
        for names, wanted in ((matrix.runs, runs), (matrix.topics, topics), (matrix.measures, measures))
        for place in [{name: at for at, name in enumerate(names)}]
    )
    cells = matrix.cells[np.ix_(at_runs, at_topics, at_measures)]
    return ScoreMatrix(matrix.name, runs, tasks, topics, measures, cells, matrix.means[np.ix_(at_runs, at_measures)])
