"""A plain model of the editor's list, and random edits for it: what the real one is compared with."""

from typing import NamedTuple

from hypothesis import strategies as st

Item = tuple[str, str]  # text, importance


class Step(NamedTuple):
    """One edit. at and to are taken modulo what is there; again: the same write is sent a second time."""

    verb: str
    at: int
    to: int
    text: str
    importance: str
    again: bool


_VERBS = ("add", "add", "add", "reword", "importance", "move", "delete", "undo", "undo", "redo")
# Few texts, so that edits without effect come up; odd ones, so that nothing is lost on the way.
_TEXTS = st.sampled_from(["cats purr", "cats  purr ", "", " \t", "<b>&'\"", "مرحبا \u202eabc\u2069"]) | st.text(
    st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12
)
STEPS = st.lists(
    st.builds(
        Step,
        verb=st.sampled_from(_VERBS),
        at=st.integers(0, 30),
        to=st.integers(0, 30),
        text=_TEXTS,
        importance=st.sampled_from(["vital", "okay"]),
        again=st.booleans(),
    ),
    max_size=25,
)


class PlainList:
    """The list, with the lists to go back to and the lists to go forward to again."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.done: list[list[Item]] = []
        self.undone: list[list[Item]] = []

    def can(self, step: Step) -> bool:
        """Say whether the step can be asked for at all: a nugget must be there to be edited."""
        return step.verb in ("add", "undo", "redo") or bool(self.items)

    def place(self, step: Step) -> int:
        return step.at % len(self.items)

    def do(self, step: Step) -> bool:
        """Carry out a step, and say whether it changed anything."""
        before = list(self.items)
        if step.verb == "undo":
            return self._go(self.done, self.undone)
        if step.verb == "redo":
            return self._go(self.undone, self.done)
        if not self._edit(step):
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

    def _edit(self, step: Step) -> bool:
        cleaned = " ".join(step.text.split())
        if step.verb == "add":
            self.items.append((cleaned, ""))
            if not cleaned:
                self.items.pop()
            return bool(cleaned)
        at = self.place(step)
        text, importance = self.items[at]
        if step.verb == "delete":
            del self.items[at]
            return True
        if step.verb == "move":
            to = min(step.to, len(self.items) - 1)
            self.items.insert(to, self.items.pop(at))
            return to != at
        self.items[at] = (cleaned, importance) if step.verb == "reword" else (text, step.importance)
        return self.items[at] != (text, importance)
