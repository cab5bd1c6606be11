"""A nugget list and its changes, as plain values: what an edit did, and how to take it back."""

from dataclasses import dataclass, field
from typing import Any

FIELDS = ("text", "importance", "evidence", "is_undecided")
Changes = dict[str, Any]


@dataclass
class NuggetList:
    """The nuggets of a bank (fields by uid, deleted ones included) and the order of those on the list."""

    order: list[str] = field(default_factory=list)
    nuggets: dict[str, dict[str, Any]] = field(default_factory=dict)

    def copy(self) -> "NuggetList":
        return NuggetList(list(self.order), {uid: dict(fields) for uid, fields in self.nuggets.items()})


def changes_between(before: NuggetList, after: NuggetList) -> Changes:
    """Return what differs, each as [before, after]: {"order": [...], "nuggets": {uid: {field: [...]}}}.

    A nugget that is new has no entry of its own: it is off the list before and on it after.
    """
    changes: Changes = {}
    if before.order != after.order:
        changes["order"] = [before.order, after.order]
    nuggets = {}
    for uid, fields in before.nuggets.items():
        changed = {name: [fields[name], after.nuggets[uid][name]] for name in FIELDS}
        changed = {name: pair for name, pair in changed.items() if pair[0] != pair[1]}
        if changed:
            nuggets[uid] = changed
    if nuggets:
        changes["nuggets"] = nuggets
    return changes


def apply(nugget_list: NuggetList, changes: Changes, *, backwards: bool) -> None:
    """Apply changes to a list, or take them back."""
    side = 0 if backwards else 1
    if "order" in changes:
        nugget_list.order = list(changes["order"][side])
    for uid, fields in changes.get("nuggets", {}).items():
        for name, pair in fields.items():
            nugget_list.nuggets[uid][name] = pair[side]
