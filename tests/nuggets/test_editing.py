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
        listed = [self.list.items[uid] for uid in self.list.order]
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
            for uid, fields in after.items.items():
                self.list.items.setdefault(uid, dict(fields))
            self._apply(self.done[-1], backwards=False)

    def _apply(self, changes: str, *, backwards: bool) -> None:
        apply(self.list, json.loads(changes), backwards=backwards)
        self.story.append((changes, backwards))

    def _edit(self, after: NuggetList, step: Step) -> None:
        """Edit a list in place. Merging and splitting are to it what they are to the model: see there."""
        if step.verb in ("add", "merge", "split"):
            self._replace(after, step)
            return
        uid = after.order[step.at % len(after.order)]
        nugget = after.items[uid]
        place = list(step.place or PLACES[0])
        if step.verb == "delete":
            after.order.remove(uid)
        elif step.verb == "move":
            after.order.remove(uid)
            after.order.insert(step.to, uid)
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
            order.append(str(len(after.items) + 1))
            evidence = [list(place) for place in item.evidence]
            fields = {"text": item.text, "importance": item.importance, "evidence": evidence}
            after.items[order[-1]] = {**fields, "is_undecided": False}
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


def _list(order: str, **texts: str) -> NuggetList:
    fields = {
        name: {"text": text, "importance": "", "evidence": [], "is_undecided": False} for name, text in texts.items()
    }
    return NuggetList(list(order), fields)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (_list("a", a="a"), _list("a", a="a"), {}),
        (_list("a", a="a"), _list("a", a="b"), {"nuggets": {"a": {"text": ["a", "b"]}}}),
        (_list("ab", a="a", b="b"), _list("ba", a="a", b="b"), {"order": [["a", "b"], ["b", "a"]]}),
        (_list("a", a="a"), _list("", a="a"), {"order": [["a"], []]}),
        (_list(""), _list("a", a="a"), {"order": [[], ["a"]]}),
        (
            _list("a", a="a"),
            _list("ab", a="b", b="c"),
            {"order": [["a"], ["a", "b"]], "nuggets": {"a": {"text": ["a", "b"]}}},
        ),
    ],
    ids=["nothing", "reword", "move", "delete", "add", "several"],
)
def test_changes_name_what_differs_and_nothing_else(before: NuggetList, after: NuggetList, changes: Changes):
    assert changes_between(before, after) == changes
    apply(after, changes, backwards=True)
    assert after.order == before.order
    assert {uid: after.items[uid] for uid in before.items} == before.items


def test_a_copy_is_independent():
    original = _list("a", a="a")
    copy = original.copy()
    copy.order.append("b")
    copy.items["a"]["text"] = "b"
    assert original == _list("a", a="a")
