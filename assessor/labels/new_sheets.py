"""New judged answers with their labels, as rows: a track's condition has 44,000, with 829,000 labels."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from assessor.labels.models import JudgedAnswer
from assessor.runtime.sql import insert, reserve_keys


class SheetRow(NamedTuple):
    """A judged answer to be written. columns, labels: by the fields that insert_sheets() is told."""

    columns: tuple[Any, ...]
    labels: list[tuple[Any, ...]]


def insert_sheets(
    model: type[JudgedAnswer], fields: Sequence[str], of_label: Sequence[str], sheets: Iterable[SheetRow]
) -> None:
    """Write new judged answers, in this order. of_label: the fields of a label besides that of its judged answer."""
    new = list(sheets)
    first = reserve_keys(model, len(new)) + 1
    insert(model, ("id", *fields), [(key, *sheet.columns) for key, sheet in enumerate(new, first)])
    rows = [(key, *label) for key, sheet in enumerate(new, first) for label in sheet.labels]
    insert(model.label_model(), ("sheet", *of_label), rows)
