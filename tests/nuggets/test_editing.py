"""Changes as plain values: any of them can be made, taken back and made again."""

import json

import pytest
from hypothesis import given

from nuggets.editing import Changes, NuggetList, apply, changes_between
from tests.nuggets.plain import STEPS, Item, PlainList, Step


class _Stacked:
    """A NuggetList edited through changes only, kept as they are stored: as JSON."""

    def __init__(self) -> None:
        self.list = NuggetList()
        self.done: list[str] = []
        self.undone: list[str] = []
        self.story: list[tuple[str, bool]] = []

    def items(self) -> list[Item]:
        return [(fields["text"], fields["importance"]) for fields in map(self.list.nuggets.get, self.list.order)]

    def do(self, step: Step) -> None:
        if step.verb in ("undo", "redo"):
            there, back = (self.done, self.undone) if step.verb == "undo" else (self.undone, self.done)
            if there:
                back.append(there.pop())
                self._apply(back[-1], backwards=step.verb == "undo")
            return
        after = self.list.copy()
        self._edit(after, step)
        changes = changes_between(self.list, after)
        if changes:
            self.done.append(json.dumps(changes))
            self.undone.clear()
            for pk, fields in after.nuggets.items():
                self.list.nuggets.setdefault(pk, dict(fields))
            self._apply(self.done[-1], backwards=False)

    def _apply(self, changes: str, *, backwards: bool) -> None:
        apply(self.list, json.loads(changes), backwards=backwards)
        self.story.append((changes, backwards))

    def _edit(self, after: NuggetList, step: Step) -> None:
        cleaned = " ".join(step.text.split())
        if step.verb == "add":
            if cleaned:
                pk = len(after.nuggets) + 1
                after.nuggets[pk] = {"text": cleaned, "importance": "", "evidence": []}
                after.order.append(pk)
            return
        pk = after.order[step.at % len(after.order)]
        if step.verb == "delete":
            after.order.remove(pk)
        elif step.verb == "move":
            after.order.remove(pk)
            after.order.insert(step.to, pk)
        elif step.verb == "reword":
            after.nuggets[pk]["text"] = cleaned
        else:
            after.nuggets[pk]["importance"] = step.importance


@given(STEPS)
def test_any_edits_with_undo_and_redo_give_what_a_plain_list_gives(steps: list[Step]):
    model, real = PlainList(), _Stacked()
    for step in steps:
        if not model.can(step):
            continue
        changed = model.do(step)
        told_before = len(real.story)
        real.do(step)
        assert real.items() == model.items
        assert len(real.story) - told_before == int(changed)
    final, story = real.items(), list(real.story)
    while real.done:
        real.do(Step("undo", 0, 0, "", "", False))
    assert real.list.order == []
    for changes, backwards in story:
        apply(real.list, json.loads(changes), backwards=backwards)
    assert real.items() == final


def _list(order: list[int], **texts: str) -> NuggetList:
    fields = {int(name[1:]): {"text": text, "importance": "", "evidence": []} for name, text in texts.items()}
    return NuggetList(order, fields)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (_list([1], n1="a"), _list([1], n1="a"), {}),
        (_list([1], n1="a"), _list([1], n1="b"), {"nuggets": {"1": {"text": ["a", "b"]}}}),
        (_list([1, 2], n1="a", n2="b"), _list([2, 1], n1="a", n2="b"), {"order": [[1, 2], [2, 1]]}),
        (_list([1], n1="a"), _list([], n1="a"), {"order": [[1], []]}),
        (_list([]), _list([1], n1="a"), {"order": [[], [1]]}),
        (
            _list([1], n1="a"),
            _list([1, 2], n1="b", n2="c"),
            {"order": [[1], [1, 2]], "nuggets": {"1": {"text": ["a", "b"]}}},
        ),
    ],
    ids=["nothing", "reword", "move", "delete", "add", "several"],
)
def test_changes_name_what_differs_and_nothing_else(before: NuggetList, after: NuggetList, changes: Changes):
    assert changes_between(before, after) == changes
    apply(after, changes, backwards=True)
    assert after.order == before.order
    assert {pk: after.nuggets[pk] for pk in before.nuggets} == before.nuggets


def test_a_copy_is_independent():
    original = _list([1], n1="a")
    copy = original.copy()
    copy.order.append(2)
    copy.nuggets[1]["text"] = "b"
    assert original == _list([1], n1="a")
