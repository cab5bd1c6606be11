"""Random edits through the real actions: the same list as a plain model's, and a history that tells all of it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings

from assessor.accounts.models import Person
from assessor.work.write_protocol import BadWrite, Result, Sent, Stale, once
from nuggets import actions
from nuggets.editing import FIELDS, NuggetList, apply
from nuggets.models import NuggetBank
from nuggets.queries import next_redo
from tests.examples import examples
from tests.nuggets.conftest import do
from tests.nuggets.plain import BESIDE, PLACES, STEPS, Item, Place, PlainList, Step, mark


def _evidence(place: Place) -> dict[str, Any]:
    return dict(zip(("docid", "start", "end"), place, strict=True))


def _action(step: Step, on: list[UUID]) -> tuple[Callable[..., Result], dict[str, Any]]:
    """Return what to call for a step on nuggets with these uids."""
    place = _evidence(step.place or PLACES[0])
    docid, is_read = mark(step)
    called: dict[str, tuple[Callable[..., Result], dict[str, Any]]] = {
        "add": (
            actions.add_nugget,
            {"uid": uuid4(), "text": step.text, "evidence": _evidence(step.place) if step.place else None},
        ),
        "merge": (actions.merge_nuggets, {"uids": on, "uid": uuid4(), "text": step.text}),
        "undo": (actions.undo, {}),
        "redo": (actions.redo, {}),
        "reading": (actions.set_reading, {"text": step.text}),
        "read": (actions.mark_passage, {"docid": docid, "is_read": is_read}),
    }
    if step.verb in called:
        return called[step.verb]
    action, fields = {
        "reword": (actions.reword_nugget, {"text": step.text}),
        "importance": (actions.set_importance, {"importance": step.importance}),
        "move": (actions.move_nugget, {"to": step.to}),
        "delete": (actions.delete_nugget, {}),
        "attach": (actions.attach_evidence, {"evidence": place}),
        "detach": (actions.detach_evidence, {"evidence": place}),
        "split": (actions.split_nugget, {"into": [(uuid4(), step.text), (uuid4(), step.other)]}),
        "note": (actions.set_note, {"text": step.text}),
    }[step.verb]
    return action, fields | {"uid": on[0]}


def _send(bank: NuggetBank, person: Person, step: Step, on: list[UUID]) -> None:
    """Send a step, twice where it says so: the second time is the same, and late, yet neither refused nor done."""
    action, fields = _action(step, on)
    write = Sent(uuid4(), bank.version, "")
    result = once(bank.task, write, lambda: action(bank, **fields, acting_user=person, seen=write.seen))
    if step.again:
        assert once(bank.task, write, lambda: action(bank, **fields, acting_user=person, seen=write.seen)) == result
        if result["version"] != write.seen:
            late = write._replace(key=uuid4())
            with pytest.raises(Stale):
                once(bank.task, late, lambda: action(bank, **fields, acting_user=person, seen=late.seen))
    bank.refresh_from_db()
    assert result == {"version": bank.version}


class _Read:
    """A bank as the database has it, in the model's words."""

    def __init__(self, bank: NuggetBank) -> None:
        nuggets = list(bank.nuggets.order_by("pk"))
        self.numbers = {nugget.name: number for number, nugget in enumerate(nuggets, start=1)}
        self.uids = [nugget.uid for nugget in nuggets]
        self.notes = [nugget.note for nugget in nuggets]
        self.fields = {nugget.name: {name: getattr(nugget, name) for name in FIELDS} for nugget in nuggets}
        self._kept = {nugget.name: (nugget.origin, nugget.parents) for nugget in nuggets}
        self.items = [self.item(uid, self.fields[uid]) for uid in bank.order]

    def item(self, uid: str, fields: dict[str, Any]) -> Item:
        """Return a nugget with these fields as an item: origin and parents never change."""
        origin, parents = self._kept[uid]
        evidence = tuple((one["docid"], one["start"], one["end"]) for one in fields["evidence"])
        assert all(list(one) == ["docid", "start", "end"] for one in fields["evidence"])
        numbers = tuple(self.numbers[parent] for parent in parents)
        return Item(self.numbers[uid], fields["text"], fields["importance"], evidence, origin, numbers)


def _assert_like(bank: NuggetBank, model: PlainList) -> _Read:
    real = _Read(bank)
    assert real.items == model.items
    assert (real.notes, bank.reading, bank.read_passages) == (model.notes, model.reading, model.read)
    assert bank.task.done == len(model.items)
    assert (bank.head_id is not None, next_redo(bank) is not None) == (bool(model.done), bool(model.undone))
    return real


def _assert_history(bank: NuggetBank, model: PlainList, verbs: list[str]) -> None:
    """Play the history from the empty list and from each nugget as it was first written: it gives what there is."""
    edits = list(bank.edits.select_related("about").order_by("version"))
    assert [(edit.version, edit.verb) for edit in edits] == list(enumerate(verbs, start=1))
    assert bank.version == len(verbs)
    real = _Read(bank)
    first = {uid: dict(fields) for uid, fields in real.fields.items()}
    edits_of_the_list = [edit for edit in edits if edit.verb not in BESIDE]
    for edit in reversed(edits_of_the_list):
        changes, backwards = (edit.about.changes, edit.verb != "undo") if edit.about else (edit.changes, True)
        for uid, fields in changes.get("nuggets", {}).items():
            first[uid] |= {name: pair[0 if backwards else 1] for name, pair in fields.items()}
    assert [real.item(uid, fields) for uid, fields in first.items()] == model.made, "deleted nuggets stay, all of them"
    story = NuggetList([], first)
    for edit in edits_of_the_list:
        apply(story, edit.about.changes if edit.about else edit.changes, backwards=edit.verb == "undo")
    assert story == NuggetList(bank.order, real.fields)
    _assert_told_beside(bank, real)


def _assert_told_beside(bank: NuggetBank, real: _Read) -> None:
    """The edits beside the list tell each from its value before to its value after, without a gap."""
    notes: dict[str, str] = {}
    reading, read = "", set()
    for edit in bank.edits.filter(verb__in=BESIDE).order_by("version"):
        assert (edit.parent_id, edit.about_id) == (None, None)
        if edit.verb == "note":
            [(uid, told)] = edit.changes["nuggets"].items()
            before, after = told["note"]
            assert notes.get(uid, before) == before
            notes[uid] = after
        elif edit.verb == "reading":
            assert edit.changes["reading"][0] == reading
            reading = edit.changes["reading"][1]
        else:
            was_read, is_read = edit.changes["read"]
            assert was_read is (edit.changes["passage"] in read)
            read ^= {edit.changes["passage"]}
            assert is_read is not was_read
    assert all(real.notes[real.numbers[uid] - 1] == note for uid, note in notes.items())
    assert (reading, read) == (bank.reading, set(bank.read_passages))


def _verb(step: Step) -> str:
    return step.importance if step.verb == "importance" else step.verb


def _run(bank: NuggetBank, person: Person, steps: list[Step]) -> None:
    model = PlainList()
    verbs: list[str] = []
    real = _Read(bank)
    for step in steps:
        if not model.can(step):
            continue
        places = model.chosen(step) if step.verb == "merge" else [model.place(step)] if model.items else []
        on = [real.uids[model.items[place].number - 1] for place in places]
        if model.is_refused(step):
            with pytest.raises(BadWrite):
                _send(bank, person, step, on)
        else:
            _send(bank, person, step, on)
        if model.do(step):
            verbs.append(_verb(step))
        real = _assert_like(bank, model)
        assert bank.version == len(verbs)
    furthest = list([*model.undone, model.items][0])
    for verb in ("undo", "redo"):
        _assert_history(bank, model, verbs)
        while model.do(Step(verb)):
            do(bank, getattr(actions, verb))
            verbs.append(verb)
        _assert_like(bank, model)
        assert do(bank, getattr(actions, verb)) == {"version": len(verbs)}, "there is nothing left to take back"
        assert verb == "redo" or (model.items, bank.head) == ([], None)
    _assert_history(bank, model, verbs)
    assert model.items == furthest


def test_any_edits_give_what_a_plain_list_gives_and_a_whole_history(bank: NuggetBank, anna: Person):
    @settings(max_examples=examples(50, 500), suppress_health_check=[HealthCheck.too_slow])
    @given(STEPS)
    def run(steps: list[Step]) -> None:
        with transaction.atomic():
            bank.refresh_from_db()
            _run(bank, anna, steps)
            transaction.set_rollback(True)

    run()
