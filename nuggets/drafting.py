"""How a model comes to its nuggets, as pure functions on plain values."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

Item = TypeVar("Item")


class Step(NamedTuple):
    """A window of segments, and the whole list as the model left it after reading them.

    runs: where answers were read instead, the tags of the runs whose answers stood in each request. votes: how often a
    reply named each of the list so far. former_qid: of the topic in the edition from which the list is inherited.
    """

    docids: list[str]
    nuggets: list[str]
    runs: Sequence[list[str]] = ()
    votes: Sequence[int] = ()
    former_qid: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as a drafting keeps it."""
        return {name: value for name, value in self._asdict().items() if value or name not in self._field_defaults}


class Cut(NamedTuple):
    """A list that was longer than it may be. window: by its number, from 1; nuggets: how many the reply had."""

    window: int
    nuggets: int
    limit: int


class Ranked(NamedTuple):
    """A nugget of the model's list. place: where it stood there, from 1."""

    place: int
    text: str
    importance: str


def in_batches(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Return items in runs of a size, the last one as long as what is left."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def ranked(nuggets: Sequence[str], labels: Sequence[str], most: int) -> list[Ranked]:
    """Return the nuggets that are kept: vital ones first, else in the model's order, and no more than `most`."""
    found = [Ranked(place, *pair) for place, pair in enumerate(zip(nuggets, labels, strict=True), start=1)]
    return sorted(found, key=lambda nugget: nugget.importance != "vital")[:most]


def brought_by(steps: Sequence[Step]) -> list[int]:
    """Return for each nugget of the last list the number, from 0, of the step that first brought it.

    A nugget is known by its exact text: one that the model reworded later was brought by the rewording. Of equal
    texts the second was brought by the first step whose list had two of them.
    """
    counts = [Counter(step.nuggets) for step in steps]
    met: Counter[str] = Counter()
    found = []
    for text in steps[-1].nuggets:
        met[text] += 1
        found.append(next(number for number, count in enumerate(counts) if count[text] >= met[text]))
    return found


def shuffled(count: int, seed: int) -> list[int]:
    """Return the places 1 to `count` in an order that follows from the seed, on any machine and in any language.

    They are sorted by the sha256 of "seed place", as the modules that make random numbers may change.
    """
    return sorted(range(1, count + 1), key=lambda place: sha256(f"{seed} {place}".encode()).digest())
