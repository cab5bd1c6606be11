"""plan.csv: a line is what one person does on a topic. A further line is for somebody else, or for more of a kind."""

import csv
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assessor.campaigns.condition_kind import condition_kinds
from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report, quantity

KINDS = tuple(kind.name for kind in condition_kinds())  # columns with the name of a condition each
COLUMNS = ("topic", *KINDS, "assessor", "runs", "draw", "reason")
WHOEVER = "*"  # in the place of an assessor: whoever draws it
_NEEDED = ("topic", "assessor")
_STARTS_A_FORMULA = tuple("=+-@\t\r")


class PlanRecord(NamedTuple):
    """A line. conditions: names by kind, those that are filled in; assessor: a username or WHOEVER.

    draw: the number of a draw of topics under one of the conditions, or "".
    """

    line: Line
    topic: str
    conditions: dict[str, str]
    assessor: str
    runs: str
    draw: str
    reason: str


def begins_plan(beginning: Beginning) -> bool:
    """Say whether a file begins with columns of a plan."""
    columns = {cell.strip() for line in beginning.lines[:1] for cell in line.split(",")}
    return set(_NEEDED) <= columns <= set(COLUMNS)


def read_plan(lines: Iterable[Line], report: Report) -> Iterator[PlanRecord]:
    """Yield the lines of a plan. The first one must name the columns, in any order; some may be left out."""
    columns: list[str] | None = None
    for line in lines:
        try:
            cells = [_as_meant(cell.strip()) for cell in next(csv.reader([line.text], strict=True))]
        except csv.Error as error:
            report.error(line.number, "", f"{error}: {line.text}", "one row of CSV")
            continue
        if columns is None:
            columns = cells
            if not set(_NEEDED) <= set(columns) <= set(COLUMNS) or len(set(columns)) < len(columns):
                raise report.fatal(line.number, "header", line.text, f"topic, assessor, any of {', '.join(COLUMNS)}")
        elif len(cells) != len(columns):
            found = f"{quantity(len(cells), 'columns')}: {line.text}"
            report.error(line.number, "", found, quantity(len(columns), "columns"))
        elif record := _record(dict(zip(columns, cells, strict=True)), line, report):
            yield record


def _as_meant(cell: str) -> str:
    """Return a cell without the apostrophe that keeps spreadsheets from taking it for a formula."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_STARTS_A_FORMULA) else cell


def _record(cells: dict[str, str], line: Line, report: Report) -> PlanRecord | None:
    errors_before = report.error_count
    topic = values.identifier(cells["topic"], "topic", line, report)
    for name in ("runs", "draw", "reason", "assessor", *KINDS):
        values.text(cells.get(name, ""), name, line, report, may_be_blank=True)
    if not cells["assessor"]:
        report.error(line.number, "assessor", "", f"an assessor, or {WHOEVER} for whoever draws it")
    conditions = {kind: cells[kind] for kind in KINDS if cells.get(kind)}
    if not conditions:
        report.error(line.number, "", line.text, "a condition in one of " + ", ".join(KINDS))
    if report.error_count > errors_before or not topic:
        return None
    runs, draw, reason = (cells.get(name, "") for name in ("runs", "draw", "reason"))
    return PlanRecord(line, topic, conditions, cells["assessor"], runs, draw, reason)
