"""Score tables as pages show them: cells as text, sorted by a column."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from assessor.scores.leaderboards import STATES
from assessor.scores.loading import Scores
from assessor.scores.tables import Row, Table, cell_figures
from metaeval.stats.means import OVER, Policy, run_scores, spread
from metaeval.stats.measures import Measures

_UNDEFINED = "—"


class Column(NamedTuple):
    """A column by which a table can be sorted. below: what stands small beside its label."""

    key: str
    label: str
    below: str = ""
    is_number: bool = True


class Cell(NamedTuple):
    """What stands in a column. notes: what is told below it, and mark: a word that sets it apart."""

    text: str
    is_number: bool
    notes: Sequence[str] = ()
    mark: str = ""


class Line(NamedTuple):
    """A row: whose it is, the key of the record that has a page of its own, and what stands in the other columns.

    values: of all columns, by which it is sorted; None is undefined.
    """

    name: str
    pk: int | None
    title: str
    cells: list[Cell]
    values: list[str | float | None]


class Listing(NamedTuple):
    """A table to be shown: lines that are sorted, those told over all of them, and those set apart below."""

    columns: list[Column]
    lines: list[Line]
    over: list[Line]
    apart: list[Line]

    def sorted_by(self, key: str) -> "Listing":
        """Return it with the lines sorted by a column, with a minus in descending order; undefined ones come last.

        Raises LookupError where there is no such column.
        """
        name = key.removeprefix("-")
        at = {column.key: at for at, column in enumerate(self.columns)}[name]
        is_descending = key != name
        return self._replace(lines=_sorted(self.lines, at, is_descending), apart=_sorted(self.apart, at, is_descending))


_RUN, _TASK = Column("run", "Run", is_number=False), Column("task", "Task", is_number=False)
_STATE = Column("state", "Answer", is_number=False)
OUT = Column("not_judged_by_plan", "Not judged by plan")  # only where something is


def runs_listing(measures: Measures, table: Table) -> Listing:
    """Return the score table of a condition: a line for each run."""
    counts = [Column("complete", "Complete"), Column("incomplete", "Incomplete"), *([OUT] if table.outside else [])]

    def told(row: Row) -> Sequence[str | int]:
        outside = [row.outside] if table.outside else []
        return row.run.task if row.run else "", row.complete, row.incomplete, *outside

    def lines(rows: Iterable[Row]) -> list[Line]:
        return [_line(measures, row.name, row.run and row.run.pk, "", told(row), row.figures) for row in rows]

    columns = [_RUN, _TASK, *counts, *_figures(measures)]
    return Listing(columns, lines(table.systems), lines(table.over), lines(table.controls))


def topic_listing(found: Scores, at: int, policy: Policy) -> Listing:
    """Return the scores of all runs on one topic, by its place."""
    states = found.states[:, at].tolist()
    figures = cell_figures(found, policy)[:, at]
    lines = [
        _line(found.measures, run.tag, run.pk, "", (run.task, STATES[state]), scores)
        for run, state, scores in zip(found.runs, states, figures.tolist(), strict=True)
    ]
    is_control = np.array([run.is_control for run in found.runs], dtype=bool)
    over = spread(figures[~is_control, np.newaxis], found.states[~is_control, at : at + 1], policy)
    return Listing(
        columns=[_RUN, _TASK, _STATE, *_figures(found.measures)],
        lines=[line for line, control in zip(lines, is_control, strict=True) if not control],
        over=[_line(found.measures, name, None, "", ("", ""), over[place].tolist()) for place, name in enumerate(OVER)],
        apart=[line for line, control in zip(lines, is_control, strict=True) if control],
    )


def run_listing(found: Scores, at: int, policy: Policy) -> Listing:
    """Return the scores of one run, by its place, on all topics."""
    states = found.states[at].tolist()
    figures = cell_figures(found, policy)[[at]]
    mean = run_scores(figures, found.states[[at]], policy)
    return Listing(
        columns=[Column("topic", "Topic", is_number=False), _STATE, *_figures(found.measures)],
        lines=[
            _line(found.measures, topic.qid, topic.pk, topic.title, (STATES[state],), scores)
            for topic, state, scores in zip(found.topics, states, figures[0].tolist(), strict=True)
        ],
        over=[_line(found.measures, "mean", None, "", ("",), mean[0].tolist())],
        apart=[],
    )


def _figures(measures: Measures) -> list[Column]:
    return [Column(measure.key, measure.label, measure.below) for measure in measures.all]


def _line(
    measures: Measures, name: str, pk: int | None, title: str, told: Sequence[str | int], figures: Sequence[float]
) -> Line:
    cells = [Cell(str(one), isinstance(one, int)) for one in told]
    cells += [Cell(text, True) for text in measures.rounded(figures, undefined=_UNDEFINED)]
    return Line(name, pk, title, cells, [name, *told, *(None if math.isnan(value) else value for value in figures)])


def _sorted(lines: list[Line], at: int, is_descending: bool) -> list[Line]:
    defined = [line for line in lines if line.values[at] is not None]
    undefined = [line for line in lines if line.values[at] is None]
    # What ties stays in the order of names.
    return sorted(defined, key=lambda line: line.values[at], reverse=is_descending) + undefined  # type: ignore[arg-type,return-value]  # of one column, so of one type
