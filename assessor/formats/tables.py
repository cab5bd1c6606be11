"""Tables for people, as CSV. The field's exchange formats are never written like this."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from numbers import Number

from assessor.formats.run_list import CsvLine

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table; a cell that a spreadsheet would take for a formula gets an apostrophe before it."""
    writer = csv.writer(CsvLine())
    for row in chain([columns], rows):
        yield writer.writerow(["" if cell is None else _harmless(cell) for cell in row])


def _harmless(cell: object) -> object:
    """Return a cell; a negative number stays one, and what anything else is called can be a formula."""
    return f"'{cell}" if not isinstance(cell, Number) and str(cell).startswith(_STARTS_A_FORMULA) else cell
