"""New answer sheets, as rows: a track's condition has 44,000 of them."""

from collections.abc import Iterable, Sequence
from typing import Any

from assessor.collection.formats.values import to_json
from assessor.collection.loaders.base import insert
from assessor.llm.questions import ASSIGNMENT
from assignment.models import AnswerSheet

_FIELDS = (
    *("condition", "bank", "answer", "judge", "edition", "to_do", "task", "place", "asked", "labels", "by_rule"),
    *("invalid", "extras", "import_record", "put_off", "version", "cannot", "adopted", "stale", "flags", "marks"),
    "out_of_scope",
)
_NOTHING = "{}"
NOT_SUPPORT = ASSIGNMENT[-1]


def sheet_row(
    *,
    condition: int,
    bank: int,
    answer: int,
    judge: int,
    edition: int,
    nuggets: Sequence[int],
    labels: dict[str, str] | None = None,
    is_empty: bool = False,
    task: int | None = None,
    place: int = 0,
    is_part: bool = False,
    invalid: dict[str, Any] | None = None,
    extras: dict[str, Any] | None = None,
    import_record: int | None = None,
) -> tuple[Any, ...]:
    """Return a sheet as add_sheets() takes it; records are named by their keys.

    nuggets: the ids of those that are asked; is_part: whether these are not all of the bank's. is_empty: whether the
    answer has no text, so that it supports nothing by rule.
    """
    if is_empty and labels is None:
        labels = {str(nugget): NOT_SUPPORT for nugget in nuggets}
        by_rule = True
    else:
        labels, by_rule = labels or {}, False
    return (
        *(condition, bank, answer, judge, edition, len(nuggets) - len(labels), task, place),
        *(to_json(list(nuggets)) if is_part else None, to_json(labels) if labels else _NOTHING, by_rule),
        *(to_json(invalid) if invalid else _NOTHING, to_json(extras) if extras else _NOTHING, import_record),
        *(0, 0, _NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING, False),
    )


def add_sheets(rows: Iterable[tuple[Any, ...]]) -> None:
    """Write new sheets, in this order."""
    insert(AnswerSheet, _FIELDS, rows)
