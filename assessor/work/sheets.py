"""Sheets: what a judge says of the items of one answer, its nuggets or its citations, and how it came to be said.

A sheet tells what stands now of each item, by the item's key; each change is in a revision.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

from django.db import models
from django.db.models import F
from django.utils import timezone

from assessor.collection.fields import JSONText
from assessor.collection.loaders.base import as_kept, insert
from assessor.collection.models import AppendOnly, MadeOrVisibleManager, MaybeImported
from assessor.work.models import MAX_REASON, Task
from assessor.work.writes import Stale

MOVED = "citations moved"  # the verb of a revision after which items have other keys
_SAID_BY = ("label", "cannot")  # the fields with either of which something is said of an item
MOVED_TO = "moved"  # what it notes of each: [before, after]

_Sheet = TypeVar("_Sheet", bound=models.Model, covariant=True)


class InScopeManager(MadeOrVisibleManager[_Sheet]):
    """What is judged. Whoever reads sheets sees no others without asking for them."""

    def get_queryset(self) -> models.QuerySet[_Sheet]:
        return super().get_queryset().filter(out_of_scope=False)


class Sheet(MaybeImported):
    """What all sheets have. A subclass names its condition, answer, judge and task, and has revisions."""

    objects: ClassVar[InScopeManager[Self]] = InScopeManager()
    in_or_out: ClassVar[MadeOrVisibleManager[Self]] = MadeOrVisibleManager()

    # What may stand of an item; a subclass has the items of each by an attribute of its own.
    SAID: ClassVar[dict[str, str]] = {
        "label": "labels",
        "cannot": "cannot",
        "adopted": "adopted",
        "invalid": "invalid",
        "flag": "flags",
    }
    # Which sheets have an item that can't be judged, and which have one with a question to the organizer.
    UNJUDGEABLE: ClassVar[models.Q]
    QUESTIONED: ClassVar[models.Q]

    place = models.PositiveIntegerField(default=0, help_text="In the seeded order of a person's answers, from 0.")
    put_off = models.PositiveIntegerField(default=0, help_text="The last one put off has the highest number.")
    version = models.PositiveIntegerField(default=0, help_text="Counts its revisions.")
    out_of_scope = models.BooleanField(
        default=False,
        help_text="Judged no longer, as work.scope says: it is asked of nobody and counts nowhere, and all is kept.",
    )
    to_do = models.PositiveIntegerField(help_text="Items of which the judge has still to say something.")
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

    def standing(self, item: str, fields: Collection[str]) -> dict[str, Any]:
        """Return what stands of an item in some of the fields of SAID; others are not even read."""
        raise NotImplementedError

    def put(self, item: str, standing: Mapping[str, Any]) -> None:
        """Let this stand of an item, by field, None for nothing; the other fields stay. It is not saved yet."""
        raise NotImplementedError

    def ask(self, items: Sequence[Any]) -> dict[str, Any]:
        """Ask these items from now on; return the columns to be saved for it."""
        raise NotImplementedError

    def columns_of(self, fields: Collection[str]) -> dict[str, Any]:
        """Return the columns to be saved where some fields of items were changed."""
        raise NotImplementedError

    def save_items(self, changes: Mapping[str, Mapping[str, Any]], **origin: Any) -> None:
        """Save what is not in its columns. changes: by item, the fields that differ; origin: of new labels."""

    @classmethod
    def with_items(cls, sheets: models.QuerySet[Any]) -> models.QuerySet[Any]:
        """Return the same sheets, read together with what stands of their items."""
        return sheets

    @classmethod
    def said(cls, sheets: models.QuerySet[Any]) -> Iterator[tuple[int, Collection[str], Collection[str]]]:
        """Yield sheets by key, each with the items that have a label and those that can't be judged.

        One of which nothing is said may be left out.
        """
        raise NotImplementedError


class SheetRevision(AppendOnly):
    """One change of a sheet: who or what said what, and when. A subclass names its sheet, judge, task and job."""

    version = models.PositiveIntegerField(help_text="The sheet's version after it.")
    verb = models.CharField(max_length=20)
    changes = JSONText(default=dict, help_text='By item what differs, {"label": [before, after], ...}.')
    reason = models.CharField(max_length=MAX_REASON, blank=True)
    seconds = models.PositiveIntegerField(null=True, help_text="Active time on this label.")
    guidelines_version = models.PositiveIntegerField(
        null=True, help_text="Of the guidelines that the person had opened last; none where no assessor did this."
    )
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
    guidelines_version: int | None = None,
    asked: Sequence[Any] | None = None,
    columns: Mapping[str, Any] | None = None,
    notes: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Change what stands on a sheet, and add the revision that says so.

    said: for items of the sheet, by key, what is to stand in each of SAID that is named; None or nothing takes it
    away. asked: the items that are asked from now on. columns: other columns to be set. notes: what else the revision
    tells of items, by key. The sheet is as it was read: raises Stale if it was changed since.
    """
    changes: dict[str, dict[str, list[Any]]] = {}
    for item, fields in said.items():
        key = str(item)
        before = sheet.standing(key, {*fields, *_SAID_BY})
        differing = {
            field: [before.get(field), after or None]
            for field, after in fields.items()
            if (before.get(field) or None) != (after or None)
        }
        if differing:
            sheet.put(key, {field: after for field, (_, after) in differing.items()})
            sheet.to_do += _is_said(before) - is_said(sheet, key)
            changes[key] = differing
    fields_changed = {field for fields in changes.values() for field in fields}
    origin = {"job_id": job_id, "seconds": seconds, "guidelines_version": guidelines_version}
    saved = sheet.columns_of(fields_changed) | (sheet.ask(asked) if asked is not None else {}) | dict(columns or {})
    for name, value in saved.items():
        setattr(sheet, name, value)
    seen, sheet.version = sheet.version, sheet.version + 1
    values = {name: getattr(sheet, name) for name in (*saved, "to_do", "version")}
    if not type(sheet).everything.filter(pk=sheet.pk, version=seen).update(**values):
        raise Stale
    sheet.save_items(changes, **origin)
    for key, told_of in (notes or {}).items():
        changes.setdefault(key, {}).update(told_of)
    told = _revision(
        sheet,
        verb,
        changes=changes,
        judge=judge_id,
        task=task_id,
        job=job_id,
        reason=reason,
        seconds=seconds,
        guidelines_version=guidelines_version,
    )
    insert(sheet.revisions.model, tuple(told), [tuple(told.values())])


def revise_alike(sheets: Sequence[Any], verb: str, columns: Mapping[str, Any]) -> None:
    """Set the same columns of sheets, of which nothing else is said now, and add their revisions, in two statements.

    They are of one kind, at least one, and locked.
    """
    kind = type(sheets[0])
    kind.everything.filter(pk__in=[sheet.pk for sheet in sheets]).update(version=F("version") + 1, **columns)
    rows = []
    for sheet in sheets:
        sheet.version += 1
        rows.append(_revision(sheet, verb, task=sheet.task_id))
    insert(sheets[0].revisions.model, tuple(rows[0]), [tuple(row.values()) for row in rows])


def _revision(sheet: Any, verb: str, **told: Any) -> dict[str, Any]:
    """Return the columns of a sheet's newest revision, as they are kept."""
    revisions = sheet.revisions.model
    usual = {"judge": None, "task": None, "job": None, "reason": "", "seconds": None, "guidelines_version": None}
    return {
        "sheet": sheet.pk,
        "version": sheet.version,
        "verb": verb,
        **usual,
        **told,
        "changes": as_kept(revisions, "changes", told.get("changes", {})),
        "at": as_kept(revisions, "at", timezone.now()),
        **sheet.told_with_revisions(),
    }


def said_under(revisions: models.QuerySet[Any]) -> dict[tuple[int, str], int]:
    """Return by which version of the guidelines people said what stands, by sheet's key and item's.

    What was said by no guidelines is left out.
    """
    found: dict[tuple[int, str], int] = {}
    told = revisions.order_by("sheet", "version").values_list("sheet", "changes", "guidelines_version")
    for sheet, changes, version in told:
        places = dict(change[MOVED_TO] for change in changes.values() if MOVED_TO in change)
        if places:
            found |= {(sheet, after): found.pop((sheet, before), 0) for before, after in places.items()}
            continue
        for item, change in changes.items():
            if "label" in change or "cannot" in change:
                found[sheet, item] = version or 0
    return {place: version for place, version in found.items() if version}


def looked_back(task: Task, revisions: models.QuerySet[Any]) -> dict[int, dict[str, int]]:
    """Return the same by sheet's key and then item's, for who looks back at work that is done; of open work nothing."""
    found: dict[int, dict[str, int]] = {}
    if task.state != Task.State.OPEN:
        for (sheet, item), version in said_under(revisions).items():
            found.setdefault(sheet, {})[item] = version
    return found


def is_said(sheet: Sheet, item: str) -> bool:
    """Say whether an item of a sheet, by its key as text, has a label or the reason why there can be none."""
    return _is_said(sheet.standing(item, _SAID_BY))


def _is_said(standing: Mapping[str, Any]) -> bool:
    return any(field in standing for field in _SAID_BY)
