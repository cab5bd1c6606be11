"""Sheets: what a judge says of the items of one answer, its nuggets or its citations, and how it came to be said.

The columns of a sheet hold what stands now, by the item's key; each change is in a revision. Labels of a sheet are
read together with their answer, always all of them, and a track's condition has up to a million: a row for each would
make screens, jobs and scores twenty times slower.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from assessor.collection.fields import JSONText
from assessor.collection.loaders.base import as_kept, insert
from assessor.collection.models import AppendOnly, MaybeImported
from assessor.work.models import MAX_REASON
from assessor.work.writes import Stale


class Sheet(MaybeImported):
    """What all sheets have. A subclass names its condition, answer, judge and task, and has revisions."""

    # What may stand of an item, by the column that keeps it.
    SAID: ClassVar[dict[str, str]] = {
        "label": "labels",
        "cannot": "cannot",
        "adopted": "adopted",
        "invalid": "invalid",
        "flag": "flags",
    }

    place = models.PositiveIntegerField(default=0, help_text="In the seeded order of a person's answers, from 0.")
    put_off = models.PositiveIntegerField(default=0, help_text="The last one put off has the highest number.")
    version = models.PositiveIntegerField(default=0, help_text="Counts its revisions.")
    to_do = models.PositiveIntegerField(help_text="Items of which the judge has still to say something.")
    labels = JSONText(default=dict, help_text="The labels that count.")
    cannot = JSONText(default=dict, help_text="Why there can be no label, where a person said so.")
    adopted = JSONText(
        default=dict,
        help_text="What counts where this one could judge nothing: another person's label, or what the organizer "
        "decided; not for their eyes.",
    )
    invalid = JSONText(default=dict, help_text="What an imported file had in the place of a label.")
    flags = JSONText(default=dict, help_text="A person's notes to the organizer.")
    extras = JSONText(default=dict, help_text="Further keys of an imported line, as they came.")

    class Meta:
        abstract = True

    def told_with_revisions(self) -> dict[str, Any]:
        """Return what its revisions tell besides, by their column."""
        return {}

    def label_of(self, other: Any, item: str) -> str | None:
        """Return another person's label of an item, on their sheet of the same answer, where it counts for this one."""
        label: str | None = other.labels.get(item)
        return label


class SheetRevision(AppendOnly):
    """One change of a sheet: who or what said what, and when. A subclass names its sheet, judge, task and job."""

    version = models.PositiveIntegerField(help_text="The sheet's version after it.")
    verb = models.CharField(max_length=20)
    changes = JSONText(default=dict, help_text='By item what differs, {"label": [before, after], ...}.')
    reason = models.CharField(max_length=MAX_REASON, blank=True)
    seconds = models.PositiveIntegerField(null=True, help_text="Active time on this label.")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        abstract = True
        ordering = ("sheet", "version")


def revise(
    sheet: Any,
    verb: str,
    said: Mapping[Any, Mapping[str, Any]],
    *,
    judge_id: int | None,
    task_id: int | None = None,
    job_id: int | None = None,
    reason: str = "",
    seconds: int | None = None,
    columns: Mapping[str, Any] | None = None,
    notes: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Change what stands on a sheet, and add the revision that says so, in two statements.

    said: for items of the sheet, by key, what is to stand in each of SAID that is named; None or nothing takes it
    away. columns: other columns to be set. notes: what else the revision tells of items, by key.
    The sheet is as it was read: raises Stale if it was changed since.
    """
    changes: dict[str, dict[str, list[Any]]] = {}
    for item, fields in said.items():
        key = str(item)
        was_said = is_said(sheet, key)
        for field, after in fields.items():
            column = getattr(sheet, sheet.SAID[field])
            before = column.get(key)
            if (before or None) == (after or None):
                continue
            column.pop(key, None)
            if after:
                column[key] = after
            changes.setdefault(key, {})[field] = [before, after or None]
        sheet.to_do += was_said - is_said(sheet, key)
    for key, told_of in (notes or {}).items():
        changes.setdefault(key, {}).update(told_of)
    for name, value in (columns or {}).items():
        setattr(sheet, name, value)
    seen, sheet.version = sheet.version, sheet.version + 1
    changed = {sheet.SAID[field] for fields in changes.values() for field in fields if field in sheet.SAID}
    values = {name: getattr(sheet, name) for name in (*changed, *(columns or {}), "to_do", "version")}
    if not type(sheet).everything.filter(pk=sheet.pk, version=seen).update(**values):
        raise Stale
    revisions = sheet.revisions.model
    told = {
        "sheet": sheet.pk,
        "version": sheet.version,
        "verb": verb,
        "changes": as_kept(revisions, "changes", changes),
        "judge": judge_id,
        "task": task_id,
        "job": job_id,
        "reason": reason,
        "seconds": seconds,
        "at": as_kept(revisions, "at", timezone.now()),
        **sheet.told_with_revisions(),
    }
    insert(revisions, tuple(told), [tuple(told.values())])


def is_said(sheet: Sheet, item: str) -> bool:
    """Say whether an item of a sheet, by its key as text, has a label or the reason why there can be none."""
    return item in sheet.labels or item in sheet.cannot
