"""Score tables of conditions."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assessor.scores.loading import RunName, Scores
from metaeval.stats.means import (
    COMPLETE,
    INCOMPLETE,
    OUTSIDE,
    OVER,
    UNANSWERED,
    Codes,
    Figures,
    Policy,
    counted,
    run_errors,
    run_scores,
    spread,
    topics_in_common,
)
from metaeval.stats.multiple_comparisons import TukeyGroups, is_complete, tukey_groups

SEED = 2026  # of the draws of topics for all intervals of leaderboards


class Row(NamedTuple):
    """A run of a score table, or what is told over all. figures: by measure, NaN where undefined.

    errors: the standard errors of a run's figures over topics, NaN where fewer than two count; of runs alone.

    topics: how many count under the policy; complete, incomplete: how many answers to those. outside: how many of their
    cells are not judged, as it is planned.
    """

    name: str
    run: RunName | None
    topics: int
    complete: int
    incomplete: int
    outside: int
    figures: list[float]
    errors: list[float]


class Table(NamedTuple):
    """The scores of the runs of a condition: of systems, their least, median and largest, and of control runs.

    topics: how many of the judged ones count under the policy.
    """

    topics: int
    systems: list[Row]
    over: list[Row]
    controls: list[Row]

    @property
    def answers(self) -> int:
        """How many answers there are to the topics that count."""
        return self.incomplete + sum(row.complete for row in (*self.systems, *self.controls))

    @property
    def incomplete(self) -> int:
        """How many of them lack a label that they need."""
        return sum(row.incomplete for row in (*self.systems, *self.controls))

    @property
    def outside(self) -> int:
        """How many cells are not judged, as it is planned."""
        return sum(row.outside for row in (*self.systems, *self.controls))


class Counting(NamedTuple):
    """The cells that are in means, NaN in place of the others: (runs, topics, measures).

    low, high: the 95 % interval of each mean over topics, (runs, measures). groups: by measure, of the systems' runs in
    their order; None where a score is missing of one of them. table: of all runs.
    """

    cells: Figures
    low: Figures
    high: Figures
    groups: Sequence[TukeyGroups | None]
    table: Table


def score_table(found: Scores, policy: Policy, task: str = "") -> Table:
    """Return the score table of a condition under a policy. task: of the systems' runs in it; "" for all."""
    counting = topics_counting(found, policy)
    scores, states = found.scores[:, counting], found.states[:, counting]
    figures, errors = run_scores(scores, states, policy), run_errors(scores, states, policy)
    topics, of_runs = int(counting.sum()), _cells_by_state(states)

    def row(name: str, run: RunName | None, cells: Sequence[int], means: list[float], of_means: list[float]) -> Row:
        complete, incomplete, outside = cells
        return Row(name, run, topics, complete, incomplete, outside, means, of_means)

    by_run = zip(found.runs, of_runs.tolist(), figures.tolist(), errors.tolist(), strict=True)
    rows = [row(run.tag, run, *own) for run, *own in by_run]
    is_control, is_listed = ~systems_in(found), systems_in(found, task)
    over, in_all = spread(scores[is_listed], states[is_listed], policy), of_runs[is_listed].sum(axis=0).tolist()
    return Table(
        topics=topics,
        systems=[row for row, listed in zip(rows, is_listed, strict=True) if listed],
        over=[
            row(name, None, in_all, means, [math.nan] * len(means))
            for name, means in zip(OVER, over.tolist(), strict=True)
        ],
        controls=[row for row, control in zip(rows, is_control, strict=True) if control],
    )


def _cells_by_state(states: Codes) -> npt.NDArray[np.int64]:
    """Count the cells of each run that are complete, incomplete, and not judged as it is planned: (runs, 3)."""
    return np.stack([(states == state).sum(axis=1) for state in (COMPLETE, INCOMPLETE, OUTSIDE)], axis=1)


def topics_counting(found: Scores, policy: Policy) -> npt.NDArray[np.bool_]:
    """Return of each topic whether it counts: under Policy.COMMON, only if all systems' runs answered it."""
    if policy != Policy.COMMON:
        return np.ones(len(found.topics), dtype=bool)
    return topics_in_common(found.states[systems_in(found)])


def cell_figures(found: Scores, policy: Policy) -> Figures:
    """Return the scores of all answers, NaN also where the policy has the answer or its topic not count."""
    if policy == Policy.ZERO:
        return found.scores
    counts = (found.states != UNANSWERED) & topics_counting(found, policy)
    figures: Figures = np.where(counts[..., np.newaxis], found.scores, np.nan)
    return figures


def counted_cells(found: Scores, policy: Policy) -> Figures:
    """Return the scores of all cells, NaN in place of those that are in no mean: (runs, topics, measures)."""
    cells = counted(found.scores, found.states, policy)
    cells[:, ~topics_counting(found, policy)] = np.nan
    return cells


def tukey_groups_of(found: Scores, cells: Figures) -> list[TukeyGroups | None]:
    """Return by measure which systems' runs Tukey's HSD does not tell apart. cells: as counted_cells() has them.

    A topic that counts for no run is left out; where any other cell is missing there is none.
    """
    groups: list[TukeyGroups | None] = []
    for of_measure in np.moveaxis(cells[systems_in(found)], 2, 0):
        layout = of_measure[:, ~np.isnan(of_measure).all(axis=0)]
        groups.append(tukey_groups(layout) if is_complete(layout) else None)
    return groups


def systems_in(found: Scores, task: str = "") -> npt.NDArray[np.bool_]:
    """Return of each run whether it is a system's, and of this task if one is given."""
    return np.array([not run.is_control and task in ("", run.task) for run in found.runs], dtype=bool)
