"""A plain model of the editor's list, and random edits for it: what the real one is compared with."""

from typing import NamedTuple

from hypothesis import strategies as st

Place = tuple[str, int | None, int | None]  # docid, start, end


class Item(NamedTuple):
    """A nugget. number: it is the how-many-eth ever made, from 1; parents are numbers too."""

    number: int
    text: str
    importance: str = ""
    evidence: tuple[Place, ...] = ()
    origin: str = "written"
    parents: tuple[int, ...] = ()


class Step(NamedTuple):
    """One edit. at, to and picks are taken modulo what is there; again: the same write is sent a second time."""

    verb: str
    at: int = 0
    to: int = 0
    text: str = ""
    other: str = ""
    importance: str = "vital"
    place: Place | None = None
    picks: tuple[int, ...] = ()
    again: bool = False


BESIDE = ("note", "reading", "read")  # what is kept beside the list, and undo leaves alone
_WITHOUT_NUGGET = ("add", "undo", "redo", "reading", "read")
_VERBS = (
    *("add", "add", "add", "add", "reword", "importance", "importance", "move", "delete", "attach", "attach", "detach"),
    *("merge", "merge", "merge", "merge", "split", "split", "undo", "undo", "undo", "redo", "redo", "redo"),
    *("note", "note", *BESIDE),
)
# Few texts, so that edits without effect come up; odd ones, so that nothing is lost on the way.
_TEXTS = st.sampled_from(
    ["cats purr", "cats  purr ", "dogs", "cows", " \t", "<b>&'\"", "مرحبا \u202eabc\u2069"]
) | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)
# Few places, so that one is attached twice, and detached, and shared by nuggets that are merged.
PLACES: list[Place] = [("d1", None, None), ("d1", 0, 4), ("d1", 5, 47), ("d2", 0, 22)]
NO_PLACE: Place = ("d3", None, None)
_STEP = st.builds(
    Step,
    verb=st.sampled_from(_VERBS),
    at=st.integers(0, 30),
    to=st.integers(0, 30),
    text=_TEXTS,
    other=_TEXTS,
    importance=st.sampled_from(["vital", "okay"]),
    place=st.sampled_from([None, *PLACES, *PLACES, NO_PLACE]),
    picks=st.lists(st.integers(0, 30), min_size=2, max_size=4).map(tuple),
    again=st.booleans(),
)
# Long ones most of the time; short ones to make the simplest example of a failure.
STEPS = st.lists(_STEP, max_size=25) | st.lists(_STEP, min_size=12, max_size=25)


def folded(text: str) -> str:
    return " ".join(text.split())


class PlainList:
    """The list, with the lists to go back to and the lists to go forward to again; and what is kept beside it.

    made: every nugget ever made, as it was first.
    """

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.done: list[list[Item]] = []
        self.undone: list[list[Item]] = []
        self.made: list[Item] = []
        self.notes: list[str] = []
        self.reading = ""
        self.read: list[str] = []

    def can(self, step: Step) -> bool:
        """Say whether the step can be asked for at all: a nugget must be there to be edited."""
        return step.verb in _WITHOUT_NUGGET or len(self.items) >= (2 if step.verb == "merge" else 1)

    def is_refused(self, step: Step) -> bool:
        """Say whether the step asks for something impossible."""
        needed = {"add": [step.text], "merge": [step.text], "split": [step.text, step.other]}.get(step.verb, [])
        return not all(map(folded, needed)) or (step.verb in ("add", "attach") and step.place == NO_PLACE)

    def place(self, step: Step) -> int:
        return step.at % len(self.items)

    def chosen(self, step: Step) -> list[int]:
        """Return the places of the nuggets that the step merges, in the order in which it names them."""
        left = list(range(len(self.items)))
        return [left.pop(pick % len(left)) for pick in step.picks[: len(self.items)]]

    def do(self, step: Step) -> bool:
        """Carry out a step, and say whether it changed anything."""
        if self.is_refused(step):
            return False
        if step.verb in BESIDE:
            return self._beside(step)
        if step.verb == "undo":
            return self._go(self.done, self.undone)
        if step.verb == "redo":
            return self._go(self.undone, self.done)
        before = list(self.items)
        self._edit(step)
        if self.items == before:
            return False
        self.done.append(before)
        self.undone.clear()
        return True

    def _go(self, there: list[list[Item]], back: list[list[Item]]) -> bool:
        if not there:
            return False
        back.append(self.items)
        self.items = there.pop()
        return True

    def _beside(self, step: Step) -> bool:
        before = (list(self.notes), self.reading, list(self.read))
        if step.verb == "note":
            self.notes[self.items[self.place(step)].number - 1] = folded(step.text)
        elif step.verb == "reading":
            self.reading = folded(step.text)
        else:
            docid, is_read = mark(step)
            self.read = [other for other in self.read if other != docid or is_read]
            if is_read and docid not in self.read:
                self.read.append(docid)
        return before != (self.notes, self.reading, self.read)

    def make(self, text: str, note: str = "", **fields: object) -> Item:
        item = Item(len(self.made) + 1, folded(text), **fields)
        self.made.append(item)
        self.notes.append(note)
        return item

    def _edit(self, step: Step) -> None:
        if step.verb == "add":
            self.items.append(self.make(step.text, evidence=(step.place,) if step.place else ()))
            return
        if step.verb == "merge":
            self._merge(step)
            return
        at = self.place(step)
        item = self.items[at]
        place = step.place or PLACES[0]
        if step.verb == "delete":
            del self.items[at]
        elif step.verb == "move":
            self.items.insert(step.to, self.items.pop(at))
        elif step.verb == "split":
            note = self.notes[item.number - 1]
            fields = {"evidence": item.evidence, "origin": "split", "parents": (item.number,)}
            self.items[at : at + 1] = [self.make(text, note, **fields) for text in (step.text, step.other)]
        elif step.verb == "reword":
            self.items[at] = item._replace(text=folded(step.text))
        elif step.verb == "importance":
            self.items[at] = item._replace(importance=step.importance)
        elif step.verb == "attach":
            self.items[at] = item._replace(evidence=tuple(dict.fromkeys([*item.evidence, place])))
        else:
            self.items[at] = item._replace(evidence=tuple(one for one in item.evidence if one != place))

    def _merge(self, step: Step) -> None:
        places = sorted(self.chosen(step))
        parents = [self.items[place] for place in places]
        importances = {parent.importance for parent in parents}
        merged = self.make(
            step.text,
            " / ".join(dict.fromkeys(filter(None, (self.notes[parent.number - 1] for parent in parents)))),
            importance=importances.pop() if len(importances) == 1 else "",
            evidence=tuple(dict.fromkeys(one for parent in parents for one in parent.evidence)),
            origin="merged",
            parents=tuple(parent.number for parent in parents),
        )
        self.items[places[0]] = merged
        self.items = [item for item in self.items if item not in parents]


def mark(step: Step) -> tuple[str, bool]:
    """Return the passage that a step marks, and whether as read."""
    return ("d1" if step.at % 2 else "d2"), step.to % 3 > 0
