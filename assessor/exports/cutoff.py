"""What was planned and judged at a moment: which labels are in, and which came later. Revisions tell it."""

from collections.abc import Iterator

from assessor.campaigns.condition_kind import kind_of
from assessor.exportables import Chosen
from assessor.formats.tables import write_table
from assessor.labels.cutoff import Cell

_COLUMNS = ("condition", "kind", "topic", "run", "planned", "judged", "came_later", "open", "state")


def cutoff_lines(chosen: Chosen) -> Iterator[str]:
    """Yield a row for each cell of a condition, by topic and run."""
    condition = chosen.record
    told = (condition.name, condition.kind)
    return write_table(
        _COLUMNS, ((*told, *cell, cell.open, cell.state) for cell in sorted(cells(chosen), key=lambda cell: cell[:2]))
    )


def cells(chosen: Chosen) -> Iterator[Cell]:
    """Yield the cells of a condition as they were at the chosen moment."""
    assert chosen.at is not None, "a report is of a moment"
    return kind_of(chosen.record).cells(chosen, chosen.at)
