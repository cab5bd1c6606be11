"""Score tables of conditions."""

from typing import NamedTuple

import numpy as np

from assessor.scores.found import RunName, Scores
from assessor.scores.means import (
    COMPLETE,
    INCOMPLETE,
    OUTSIDE,
    OVER,
    UNANSWERED,
    Codes,
    Figures,
    Policy,
    run_scores,
    spread,
)


class Row(NamedTuple):
    """A run of a score table, or what is told over all. figures: by measure, NaN where undefined.

    outside: how many cells are not judged, as it is planned.
    """

    name: str
    run: RunName | None
    topics: int
    complete: int
    incomplete: int
    outside: int
    figures: list[float]


class Table(NamedTuple):
    """The scores of the runs of a condition: of systems, their least, median and largest, and of control runs."""

    systems: list[Row]
    over: list[Row]
    controls: list[Row]

    @property
    def answers(self) -> int:
        """How many answers there are to the judged topics."""
        return self.incomplete + sum(row.complete for row in (*self.systems, *self.controls))

    @property
    def incomplete(self) -> int:
        """How many of them lack a label that they need."""
        return sum(row.incomplete for row in (*self.systems, *self.controls))

    @property
    def outside(self) -> int:
        """How many cells are not judged, as it is planned."""
        return sum(row.outside for row in (*self.systems, *self.controls))


def score_table(found: Scores, policy: Policy) -> Table:
    """Return the score table of a condition under a policy."""
    is_control = np.array([run.is_control for run in found.runs], dtype=bool)
    figures = run_scores(found.scores, found.states, policy)
    rows = [_row(run.tag, run, found.states[[at]], figures[at]) for at, run in enumerate(found.runs)]
    states = found.states[~is_control]
    over = spread(found.scores[~is_control], states, policy)
    return Table(
        systems=[row for row, control in zip(rows, is_control, strict=True) if not control],
        over=[_row(name, None, states, over[at]) for at, name in enumerate(OVER)],
        controls=[row for row, control in zip(rows, is_control, strict=True) if control],
    )


def _row(name: str, run: RunName | None, states: Codes, figures: Figures) -> Row:
    complete, incomplete, outside = (int((states == state).sum()) for state in (COMPLETE, INCOMPLETE, OUTSIDE))
    return Row(name, run, states.shape[1], complete, incomplete, outside, figures.tolist())


def cell_figures(found: Scores, policy: Policy) -> Figures:
    """Return the scores of all answers, NaN too where a run did not answer and that does not count."""
    if policy == Policy.ZERO:
        return found.scores
    figures: Figures = np.where((found.states == UNANSWERED)[..., np.newaxis], np.nan, found.scores)
    return figures
