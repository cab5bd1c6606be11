"""Changes as plain values: any of them can be made, taken back and made again."""

import json

import pytest
from hypothesis import given

from nuggets.editing import Changes, NuggetList, apply, changes_between
from tests.nuggets.plain import BESIDE, PLACES, STEPS, Place, PlainList, Step, folded


class _Stacked:
    """A NuggetList edited through changes only, kept as they are stored: as JSON."""

    def __init__(self) -> None:
        self.list = NuggetList()
        self.done: list[str] = []
        self.undone: list[str] = []
        self.story: list[tuple[str, bool]] = []

    def items(self) -> list[tuple[str, str, tuple[Place, ...]]]:
        listed = [self.list.nuggets[pk] for pk in self.list.order]
        return [(fields["text"], fields["importance"], tuple(map(tuple, fields["evidence"]))) for fields in listed]

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
        """Edit a list in place. Merging and splitting are to it what they are to the model: see there."""
        if step.verb in ("add", "merge", "split"):
            self._replace(after, step)
            return
        pk = after.order[step.at % len(after.order)]
        nugget = after.nuggets[pk]
        place = list(step.place or PLACES[0])
        if step.verb == "delete":
            after.order.remove(pk)
        elif step.verb == "move":
            after.order.remove(pk)
            after.order.insert(step.to, pk)
        elif step.verb == "reword":
            nugget["text"] = folded(step.text)
        elif step.verb == "importance":
            nugget["importance"] = step.importance
        else:
            others = [item for item in nugget["evidence"] if item != place]
            attached = nugget["evidence"] if place in nugget["evidence"] else [*others, place]
            nugget["evidence"] = attached if step.verb == "attach" else others

    def _replace(self, after: NuggetList, step: Step) -> None:
        """Put the nuggets that a plain list makes of some in their place."""
        plain = PlainList()
        for text, importance, evidence in self.items():
            plain.items.append(plain.make(text, importance=importance, evidence=evidence))
        plain.do(step)
        order = []
        for item in plain.items:
            if item.number <= len(after.order):
                order.append(after.order[item.number - 1])
                continue
            order.append(len(after.nuggets) + 1)
            evidence = [list(place) for place in item.evidence]
            fields = {"text": item.text, "importance": item.importance, "evidence": evidence}
            after.nuggets[order[-1]] = {**fields, "is_undecided": False}
        after.order = order


@given(STEPS)
def test_any_edits_with_undo_and_redo_give_what_a_plain_list_gives(steps: list[Step]):
    model, real = PlainList(), _Stacked()
    for step in steps:
        if step.verb in BESIDE or not model.can(step) or model.is_refused(step):
            continue
        changed = model.do(step)
        told_before = len(real.story)
        real.do(step)
        assert real.items() == [(item.text, item.importance, item.evidence) for item in model.items]
        assert len(real.story) - told_before == int(changed)
    final, story = real.items(), list(real.story)
    while real.done:
        real.do(Step("undo"))
    assert real.list.order == []
    for changes, backwards in story:
        apply(real.list, json.loads(changes), backwards=backwards)
    assert real.items() == final


def _list(order: list[int], **texts: str) -> NuggetList:
    fields = {
        int(name[1:]): {"text": text, "importance": "", "evidence": [], "is_undecided": False}
        for name, text in texts.items()
    }
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
