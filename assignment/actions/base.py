"""What all writers of answer sheets share: a change, written together with the revision that tells of it."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from assessor.collection.loaders.base import as_kept, insert
from assessor.work.writes import Stale
from assignment.models import AnswerSheet, Revision

# What may stand of a nugget, by the column that keeps it.
COLUMNS = {
    "label": "labels",
    "cannot": "cannot",
    "adopted": "adopted",
    "stale": "stale",
    "invalid": "invalid",
    "flag": "flags",
    "marks": "marks",
}
_FIELDS = ("sheet", "version", "verb", "changes", "judge", "task", "job", "edition", "reason", "seconds", "at")


def revise(
    sheet: AnswerSheet,
    verb: str,
    said: Mapping[int, Mapping[str, Any]],
    *,
    judge_id: int | None,
    task_id: int | None = None,
    job_id: int | None = None,
    reason: str = "",
    seconds: int | None = None,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Change what stands on a sheet, and add the revision that says so, in two statements.

    said: for nuggets of the sheet, by id, what is to stand in each of COLUMNS that is named; None or nothing takes it
    away. columns: other columns to be set. The sheet is as it was read: raises Stale if it was changed since.
    """
    changes: dict[str, dict[str, list[Any]]] = {}
    for nugget, fields in said.items():
        key = str(nugget)
        was_said = is_said(sheet, key)
        for field, after in fields.items():
            column = getattr(sheet, COLUMNS[field])
            before = column.get(key)
            if (before or None) == (after or None):
                continue
            column.pop(key, None)
            if after:
                column[key] = after
            changes.setdefault(key, {})[field] = [before, after or None]
        sheet.to_do += was_said - is_said(sheet, key)
    for name, value in (columns or {}).items():
        setattr(sheet, name, value)
    seen, sheet.version = sheet.version, sheet.version + 1
    changed = {COLUMNS[field] for fields in changes.values() for field in fields}
    values = {name: getattr(sheet, name) for name in (*changed, *(columns or {}), "to_do", "version")}
    if not AnswerSheet.everything.filter(pk=sheet.pk, version=seen).update(**values):
        raise Stale
    told = (sheet.pk, sheet.version, verb, as_kept(Revision, "changes", changes), judge_id, task_id, job_id)
    at = as_kept(Revision, "at", timezone.now())
    insert(Revision, _FIELDS, [(*told, sheet.edition, reason, seconds, at)])


def is_said(sheet: AnswerSheet, nugget: str) -> bool:
    """Say whether a nugget of a sheet, by its id as text, has a label or the reason why there can be none."""
    return nugget in sheet.labels or nugget in sheet.cannot
