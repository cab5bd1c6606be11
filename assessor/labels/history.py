"""What the history of judged answers tells."""

from typing import Any

from django.db import models

from assessor.work.models import Task


def said_under(revisions: models.QuerySet[Any]) -> dict[tuple[int, str], int]:
    """Return by which version of the guidelines people said what stands, by sheet's key and item's.

    What was said by no guidelines is left out.
    """
    found: dict[tuple[int, str], int] = {}
    in_order = revisions.order_by("sheet_id", "version")
    for sheet, version, changes in revisions.model.changes_of(in_order, "sheet", "guidelines_version"):
        for item, change in changes.items():
            if "label" in change or "cannot" in change:
                found[sheet, item] = version or 0
    return {item: version for item, version in found.items() if version}


def looked_back(task: Task, revisions: models.QuerySet[Any]) -> dict[int, dict[str, int]]:
    """Return the same by sheet's key and then item's, for who looks back at work that is done; of open work nothing."""
    found: dict[int, dict[str, int]] = {}
    if task.state != Task.State.OPEN:
        for (sheet, item), version in said_under(revisions).items():
            found.setdefault(sheet, {})[item] = version
    return found
