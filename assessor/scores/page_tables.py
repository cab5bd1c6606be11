"""Score tables as pages show them: cells as text, sorted by a column."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assessor.scores.leaderboards import STATES
from assessor.scores.loading import Scores
from assessor.scores.tables import Row, Table, cell_figures
from metaeval.stats.means import OVER, Policy, run_errors, run_scores, spread
from metaeval.stats.measures import Measures


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
_TEAM = Column("team", "Team", is_number=False)
_STATE = Column("state", "Answer", is_number=False)
# Only where something is:
LACKING, OUT = Column("incomplete", "Incomplete"), Column("not_judged_by_plan", "Not judged by plan")


def runs_listing(measures: Measures, table: Table, first: int = 0) -> Listing:
    """Return the score table of a condition: a line for each run. first: the place of the measure that comes first."""
    order = places_shown(measures, first)
    is_incomplete, has_outside = bool(table.incomplete), bool(table.outside)  # each looks through all rows
    counts = [LACKING] if is_incomplete else []
    counts += [OUT] if has_outside else []

    def line(row: Row) -> Line:
        run = (row.run.team, row.run.task) if row.run else ("", "")
        told = [row.complete, *([row.incomplete] if is_incomplete else [])]
        told += [row.outside] if has_outside else []
        figures = [row.figures[at] for at in order]
        cells = [Cell(text, False) for text in run]
        cells += [Cell(measures.all[at].on_page(row.figures[at]), True) for at in order]
        cells += [Cell(str(one) if row.run else "", True) for one in told]  # of topics, not of answers of all runs
        mark = row.run.mark if row.run else ""
        return Line(row.name, row.run and row.run.pk, mark, cells, [row.name, *run, *_sortable(figures), *told])

    figures = _figures(measures)
    columns = [_RUN, _TEAM, _TASK, *(figures[at] for at in order), Column("complete", "Topics"), *counts]
    return Listing(columns, *([line(row) for row in rows] for rows in (table.systems, table.over, table.controls)))


def places_shown(measures: Measures, first: int) -> list[int]:
    """Return the places of the measures that the score table of a condition has, in its order."""
    return [first, *(at for at, measure in enumerate(measures.all) if at != first and not measure.is_variant)]


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
    """Return the scores of one run, by its place, on all topics, then their mean and its standard error."""
    states = found.states[at].tolist()
    figures = cell_figures(found, policy)[[at]]
    over = {"mean": run_scores, "standard error": run_errors}
    return Listing(
        columns=[Column("topic", "Topic", is_number=False), _STATE, *_figures(found.measures)],
        lines=[
            _line(found.measures, topic.qid, topic.pk, topic.title, (STATES[state],), scores)
            for topic, state, scores in zip(found.topics, states, figures[0].tolist(), strict=True)
        ],
        over=[
            _line(found.measures, name, None, "", ("",), of(figures, found.states[[at]], policy)[0].tolist())
            for name, of in over.items()
        ],
        apart=[],
    )


def _figures(measures: Measures) -> list[Column]:
    return [Column(measure.key, measure.label, measure.below) for measure in measures.all]


def _line(
    measures: Measures, name: str, pk: int | None, title: str, told: Sequence[str | int], figures: Sequence[float]
) -> Line:
    cells = [Cell(str(one), isinstance(one, int)) for one in told]
    cells += [Cell(measure.on_page(value), True) for measure, value in zip(measures.all, figures, strict=True)]
    return Line(name, pk, title, cells, [name, *told, *_sortable(figures)])


def _sortable(figures: Sequence[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in figures]


def _sorted(lines: list[Line], at: int, is_descending: bool) -> list[Line]:
    defined = [line for line in lines if line.values[at] is not None]
    undefined = [line for line in lines if line.values[at] is None]
    # What ties stays in the order of names.
    return sorted(defined, key=lambda line: line.values[at], reverse=is_descending) + undefined  # type: ignore[arg-type,return-value]  # of one column, so of one type
