"""New answer sheets with their labels, as rows: a track's condition has 44,000 sheets and 829,000 labels."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from assessor.formats.values import to_json
from assessor.imports.loaders.base import insert, reserve_keys
from assessor.labels.models import Label
from assignment.models import AnswerSheet, Assignment

_FIELDS = (
    *("condition", "bank", "answer", "judge", "edition", "to_do", "task", "place", "is_part", "by_rule"),
    *("extras", "import_record", "put_off", "version", "unjudgeable", "flagged", "out_of_scope"),
)


class SheetRow(NamedTuple):
    """A sheet to be written. columns: by _FIELDS; labels: (nugget's key, value, state, raw as text) of each row."""

    columns: tuple[Any, ...]
    labels: list[tuple[int, str | None, str, str | None]]


def sheet_row(
    *,
    condition: int,
    bank: int,
    answer: int,
    judge: int,
    edition: int,
    nuggets: Sequence[int],
    labels: Mapping[int, str] | None = None,
    by_rule: str | None = None,
    task: int | None = None,
    place: int = 0,
    is_part: bool = False,
    raw: Mapping[int, Mapping[str, Any]] | None = None,
    extras: dict[str, Any] | None = None,
    import_record: int | None = None,
) -> SheetRow:
    """Return a sheet as add_sheets() takes it; records are named by their keys.

    nuggets: the ids of those that are asked; is_part: whether these are not all of the bank's. labels, raw: by nugget;
    raw is what a file had there besides. by_rule: the label of them all where the answer has no text, and nobody says
    anything else.
    """
    is_by_rule = by_rule is not None and labels is None
    given = dict.fromkeys(nuggets, by_rule) if is_by_rule else labels or {}
    keys = raw or {}
    rows = [
        (
            nugget,
            given.get(nugget),
            Label.State.GIVEN.value if nugget in given else Label.State.OPEN.value,
            to_json(keys[nugget]) if nugget in keys else None,
        )
        for nugget in nuggets
        if is_part or nugget in given or nugget in keys
    ]
    columns = (
        *(condition, bank, answer, judge, edition, len(nuggets) - len(given), task, place, is_part, is_by_rule),
        *(to_json(extras) if extras else "{}", import_record, 0, 0, 0, 0, False),
    )
    return SheetRow(columns, rows)


def add_sheets(sheets: Iterable[SheetRow]) -> None:
    """Write new sheets, in this order."""
    new = list(sheets)
    first = reserve_keys(AnswerSheet, len(new)) + 1
    insert(AnswerSheet, ("id", *_FIELDS), [(key, *sheet.columns) for key, sheet in enumerate(new, first)])
    rows = [(key, *label) for key, sheet in enumerate(new, first) for label in sheet.labels]
    insert(Assignment, ("sheet", "nugget", "value", "state", "raw"), rows)
