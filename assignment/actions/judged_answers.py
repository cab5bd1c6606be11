"""New answer sheets with their labels, as rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assessor.formats.values import to_json
from assessor.labels.models import Label
from assessor.labels.new_sheets import SheetRow, insert_sheets
from assignment.models import AnswerSheet

_FIELDS = (
    *("condition", "bank", "answer", "judge", "edition", "to_do", "task", "place", "is_part", "by_rule"),
    *("extras", "import_record", "put_off", "version", "unjudgeable", "flagged", "out_of_scope"),
)
_OF_LABEL = ("nugget", "value", "state", "raw")


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
    insert_sheets(AnswerSheet, _FIELDS, _OF_LABEL, sheets)
