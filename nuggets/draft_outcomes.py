"""What became of a model's drafts in a person's hands: pure functions on plain values."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple


class Fate(Enum):
    """How a draft ended; every one ends as exactly one of these, once it is decided."""

    UNDECIDED = "undecided"
    KEPT = "kept"
    EDITED = "edited"
    MERGED = "merged"
    SPLIT = "split"
    DELETED = "deleted"


class Made(NamedTuple):
    """A nugget of a bank, on the list or off it. draft: its place in the model's list, from 1, if it is from there."""

    text: str
    origin: str
    parents: Sequence[str]
    draft: int | None
    is_undecided: bool = False


class End(NamedTuple):
    """How a draft ended, and the uids of the nuggets on the list in which it lives on, in their order there."""

    fate: Fate
    became: list[str]


def ends(drafts: Sequence[str], nuggets: Mapping[str, Made], listed: Sequence[str]) -> list[End]:
    """Return how each draft of the model's list ended, in the model's order.

    nuggets: all of the bank by uid, each draft among them; listed: the uids on the list. On the list a draft is
    undecided, kept or, with another text than its own, edited. Off it, it was merged or split if any nugget on the list
    was made from it, near or far: by the first thing that was done to it. Else it was deleted, also when only what was
    made of it was. What was taken back counts for nothing, as it has left no nugget on the list.
    """
    children = defaultdict(list)
    for uid, nugget in nuggets.items():
        for parent in nugget.parents:
            children[parent].append(uid)
    lives_in = _lives_in(nuggets, listed)
    found: dict[int, End] = {}
    for uid, nugget in nuggets.items():
        if nugget.draft is None:
            continue
        became = lives_in[uid]
        if uid in became:
            as_drafted = Fate.UNDECIDED if nugget.is_undecided else Fate.KEPT
            fate = as_drafted if nugget.text == drafts[nugget.draft - 1] else Fate.EDITED
        elif not became:
            fate = Fate.DELETED
        else:
            fate = Fate(next(nuggets[child].origin for child in children[uid] if lives_in[child]))
        found[nugget.draft] = End(fate, became)
    return [found[place] for place in range(1, len(drafts) + 1)]


def sources(nuggets: Mapping[str, Made], listed: Sequence[str]) -> dict[str, list[int]]:
    """Return for each nugget on the list the places of the drafts that live on in it; none where a person added it."""
    lives_in = _lives_in(nuggets, listed)
    return {
        uid: sorted(other.draft for source, other in nuggets.items() if other.draft and uid in lives_in[source])
        for uid in listed
    }


def _lives_in(nuggets: Mapping[str, Made], listed: Sequence[str]) -> dict[str, list[str]]:
    """Return for every nugget those on the list that are it or were made from it, in their order."""
    found: dict[str, list[str]] = {uid: [] for uid in nuggets}
    for uid in listed:
        todo, known = [uid], {uid}
        while todo:
            one = todo.pop()
            found[one].append(uid)
            new = set(nuggets[one].parents) - known
            known |= new
            todo += new
    return found
