"""A list that a person edits, and its changes, as plain values: what an edit did, and how to take it back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

FIELDS = ("text", "importance", "evidence", "is_undecided", "gold", "aggregator", "under")
MAX_LEVELS = 3  # of questions and those under them
Changes = dict[str, Any]
Gold = list[dict[str, Any]]  # of a question: see Nugget


@dataclass
class ItemList:
    """Items (fields by uid, those off the list included) and the order of those on the list."""

    called: ClassVar[str]  # what changes call the items

    order: list[str] = field(default_factory=list)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)

    def copy(self) -> Self:
        return type(self)(list(self.order), {uid: dict(fields) for uid, fields in self.items.items()})


class NuggetList(ItemList):
    """The nuggets of a bank."""

    called = "nuggets"

    def levels(self) -> dict[str, int]:
        """Return how deep each nugget on the list is, from 1: one more than the question that it is under."""
        levels: dict[str, int] = {}
        for uid in self.order:  # what is under another follows it
            levels[uid] = levels.get(self.items[uid]["under"], 0) + 1
        return levels

    def block(self, uid: str) -> list[str]:
        """Return a nugget with all that is under it, which follows it on the list."""
        levels = self.levels()
        first = self.order.index(uid)
        end = next((at for at in range(first + 1, len(self.order)) if levels[self.order[at]] <= levels[uid]), None)
        return self.order[first:end]

    def nest(self, levels: Mapping[str, int]) -> None:
        """Put each nugget on the list under the last one before it that is a level higher.

        There is no other level than one more than that of the nugget before, at most, and none beyond MAX_LEVELS.
        """
        above: list[str] = []
        for uid in self.order:
            del above[min(levels[uid], MAX_LEVELS) - 1 :]
            self.items.setdefault(uid, {})["under"] = above[-1] if above else None
            above.append(uid)

    def replace(self, uid: str, others: Sequence[str]) -> None:
        """Put others in the place of a nugget; what is under it is under the last of them, or goes up a level."""
        levels, place = self.levels(), self.order.index(uid)
        for one in self.block(uid)[1:]:
            levels[one] -= not others
        self.order[place : place + 1] = others
        self.nest(levels | dict.fromkeys(others, levels[uid]))

    def move(self, uid: str, to: int) -> None:
        """Put a nugget at a place, counted from 0, with all that is under it.

        It stays on its level where that is possible. Among those under another it is one of them: else it would take
        those behind it from that one.
        """
        levels, block = self.levels(), self.block(uid)
        self.order = [one for one in self.order if one not in block]
        before, after = self.order[:to], self.order[to:]
        least = levels[after[0]] if after else 1
        most = levels[before[-1]] + 1 if before else 1
        by = min(max(levels[uid], least), most) - levels[uid]
        self.order = [*before, *block, *after]
        self.nest(levels | {one: levels[one] + by for one in block})


def united_gold(lists: Iterable[Gold]) -> Gold:
    """Return the gold answers of several questions with ids of their own, and those of one text as one.

    It has the references of all of them, each once.
    """
    by_text: dict[str, Gold] = {}
    for gold in lists:
        for answer in gold:
            by_text.setdefault(" ".join(answer["text"].split()), []).append(answer)
    return [
        same[0] | {"id": f"g{number}", "references": united([answer["references"] or [] for answer in same])}
        for number, same in enumerate(by_text.values(), start=1)
    ]


def united(lists: Iterable[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return places in passages, of several lists, each once and in their order."""
    found: list[dict[str, Any]] = []
    for places in lists:
        found.extend(place for place in places if place not in found)
    return found


def changes_between(before: ItemList, after: ItemList) -> Changes:
    """Return what differs, each as [before, after]: {"order": [...], "nuggets": {uid: {field: [...]}}}.

    An item that is new has no entry of its own: it is off the list before and on it after.
    """
    changes: Changes = {}
    if before.order != after.order:
        changes["order"] = [before.order, after.order]
    items = {}
    for uid, fields in before.items.items():
        changed = {name: [value, after.items[uid][name]] for name, value in fields.items()}
        changed = {name: pair for name, pair in changed.items() if pair[0] != pair[1]}
        if changed:
            items[uid] = changed
    if items:
        changes[before.called] = items
    return changes


def apply(edited: ItemList, changes: Changes, *, backwards: bool) -> None:
    """Apply changes to a list, or take them back."""
    side = 0 if backwards else 1
    if "order" in changes:
        edited.order = list(changes["order"][side])
    for uid, fields in changes.get(edited.called, {}).items():
        for name, pair in fields.items():
            edited.items[uid][name] = pair[side]
