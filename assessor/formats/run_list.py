"""runs.csv: what no run file says of its run."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.families import FAMILIES, UNKNOWN
from assessor.formats.lines import Line
from assessor.formats.report import Report, quantity

COLUMNS = ("tag", "team", "task", "type", "priority", "aliases", "generator")
_OPTIONAL = "generator"
TYPES = ("", "automatic", "manual")
_LONGEST = {"team": 120, "task": 40}


class RunRecord(NamedTuple):
    """A run's row; aliases are its other names in files.

    generator: the families of the models that wrote its answers, in the order of FAMILIES; None: the file has no such
    column, and says nothing of it.
    """

    line: Line
    tag: str
    team: str
    task: str
    type: str
    priority: int | None
    aliases: tuple[str, ...]
    generator: str | None


def begins_run_list(beginning: Beginning) -> bool:
    """Say whether a file begins with the columns of a list of runs."""
    return _are_columns([cell.strip() for line in beginning.lines[:1] for cell in line.split(",")])


def _are_columns(names: Sequence[str]) -> bool:
    return sorted({*names, _OPTIONAL}) == sorted(COLUMNS) and len(names) == len(set(names))


def read_run_list(lines: Iterable[Line], report: Report) -> Iterator[RunRecord]:
    """Yield the rows. The first line must name the columns, in any order."""
    columns: list[str] | None = None
    for line in lines:
        cells = _cells(line, report)
        if cells is None:
            continue
        if columns is None:
            columns = [cell.strip() for cell in cells]
            if not _are_columns(columns):
                expected = f"the columns {','.join(COLUMNS)}; {_OPTIONAL} may be left out"
                raise report.fatal(line.number, "header", line.text, expected)
        elif len(cells) != len(columns):
            found = f"{quantity(len(cells), 'columns')}: {line.text}"
            report.error(line.number, "", found, quantity(len(columns), "columns"))
        else:
            row = _row(dict(zip(columns, cells, strict=True)), line, report)
            if row:
                yield row


def _cells(line: Line, report: Report) -> list[str] | None:
    try:
        return next(csv.reader([line.text], strict=True))
    except csv.Error as error:
        report.error(line.number, "", f"{error}: {line.text}", "one row of CSV")
        return None


def _row(cells: dict[str, str], line: Line, report: Report) -> RunRecord | None:
    errors_before = report.error_count
    tag = values.identifier(cells["tag"], "tag", line, report)
    aliases = [values.identifier(alias, "aliases", line, report) for alias in cells["aliases"].split()]
    for column, longest in _LONGEST.items():
        text = values.text(cells[column], column, line, report, may_be_blank=True)
        if text is not None and len(text) > longest:
            report.error(line.number, column, text, f"at most {longest} characters")
    if cells["type"] not in TYPES:
        report.error(line.number, "type", cells["type"], "automatic, manual or nothing")
    priority = cells["priority"].strip()
    if priority and not (priority.isascii() and priority.isdigit() and len(priority) < 10):
        report.error(line.number, "priority", priority, "a whole number or nothing")
    generator = _generator(cells[_OPTIONAL], line, report) if _OPTIONAL in cells else None
    if report.error_count > errors_before or not tag:
        return None
    names = tuple(alias for alias in aliases if alias)
    number = int(priority) if priority else None
    return RunRecord(line, tag, cells["team"], cells["task"], cells["type"], number, names, generator)


def _generator(cell: str, line: Line, report: Report) -> str:
    found = set(cell.split())
    if found - {UNKNOWN} - FAMILIES.keys():
        report.error(line.number, _OPTIONAL, cell, f"{', '.join(FAMILIES)} or {UNKNOWN}, separated by blanks")
    return " ".join(family for family in FAMILIES if family in found)


class CsvLine:
    """A file for csv.writer that hands back what was written, with a plain line end."""

    def write(self, text: str) -> str:
        return text.removesuffix("\r\n") + "\n"


def write_run_list(rows: Iterable[tuple[str, str, str, str, int | None, str, str]]) -> Iterator[str]:
    """Yield the lines of (tag, team, task, type, priority, aliases, generator), under the header."""
    writer = csv.writer(CsvLine())  # with its own line end it also quotes a cell that holds a carriage return
    yield writer.writerow(COLUMNS)
    for row in rows:
        yield writer.writerow("" if cell is None else cell for cell in row)
