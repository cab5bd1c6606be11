"""Random edits through the real actions: the same list as a plain model's, and a history that tells all of it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings

from assessor.collection.models import Person
from assessor.work.writes import BadWrite, Result, Sent, Stale, once
from nuggets import actions
from nuggets.editing import FIELDS, NuggetList, apply
from nuggets.models import NuggetBank
from tests.nuggets.conftest import do, listed
from tests.nuggets.plain import STEPS, PlainList, Step

_OUTSIDE_LIST = ("add", "undo", "redo")


def _action(bank: NuggetBank, step: Step, uid: UUID) -> tuple[Callable[..., Result], dict[str, Any]]:
    return {
        "add": (actions.add_nugget, {"uid": uid, "text": step.text, "evidence": None}),
        "reword": (actions.reword_nugget, {"uid": uid, "text": step.text}),
        "importance": (actions.set_importance, {"uid": uid, "importance": step.importance}),
        "move": (actions.move_nugget, {"uid": uid, "to": step.to}),
        "delete": (actions.delete_nugget, {"uid": uid}),
        "undo": (actions.undo, {}),
        "redo": (actions.redo, {}),
    }[step.verb]


def _send(bank: NuggetBank, person: Person, step: Step, uid: UUID) -> None:
    """Send a step, twice where it says so: the second time is the same, and late, yet neither refused nor done."""
    action, fields = _action(bank, step, uid)
    write = Sent(uuid4(), bank.version, "")
    result = once(person, write, lambda: action(bank, **fields, acting_user=person, seen=write.seen))
    if step.again:
        assert once(person, write, lambda: action(bank, **fields, acting_user=person, seen=write.seen)) == result
        if result["version"] != write.seen:
            late = write._replace(key=uuid4())
            with pytest.raises(Stale):
                once(person, late, lambda: action(bank, **fields, acting_user=person, seen=late.seen))
    bank.refresh_from_db()
    assert result == {"version": bank.version}


def _replayed(bank: NuggetBank) -> NuggetList:
    """Play the history forwards, from the empty list and from each nugget as it was first written."""
    edits = list(bank.edits.select_related("about").order_by("version"))
    nuggets = {nugget.pk: {name: getattr(nugget, name) for name in FIELDS} for nugget in bank.nuggets.all()}
    for edit in reversed(edits):
        for pk, fields in edit.changes.get("nuggets", {}).items():
            nuggets[int(pk)] |= {name: pair[0] for name, pair in fields.items()}
    assert all(fields["importance"] == "" for fields in nuggets.values())
    story = NuggetList([], nuggets)
    for edit in edits:
        changes = edit.about.changes if edit.about else edit.changes
        apply(story, changes, backwards=edit.verb == "undo")
    return story


def _assert_history(bank: NuggetBank, verbs: list[str]) -> None:
    assert list(bank.edits.order_by("version").values_list("version", "verb")) == list(enumerate(verbs, start=1))
    assert bank.version == len(verbs)
    assert bank.nuggets.count() == verbs.count("add"), "deleted nuggets stay"
    present = {nugget.pk: {name: getattr(nugget, name) for name in FIELDS} for nugget in bank.nuggets.all()}
    assert _replayed(bank) == NuggetList(bank.order, present)


def _run(bank: NuggetBank, person: Person, steps: list[Step]) -> None:
    model = PlainList()
    verbs: list[str] = []
    for step in steps:
        if not model.can(step):
            continue
        uid = uuid4()
        if step.verb not in _OUTSIDE_LIST:
            uid = bank.nuggets.get(pk=bank.order[model.place(step)]).uid
        if step.verb == "add" and not step.text.split():
            with pytest.raises(BadWrite):
                _send(bank, person, step, uid)
        else:
            _send(bank, person, step, uid)
        if model.do(step):
            verbs.append(step.importance if step.verb == "importance" else step.verb)
        assert listed(bank) == model.items
        assert bank.version == len(verbs)
        assert bank.task.done == len(model.items)
    _assert_history(bank, verbs)
    for _ in range(len(model.done)):
        do(bank, actions.undo)
    assert listed(bank) == []
    assert bank.head is None
    assert do(bank, actions.undo) == {"version": len(verbs) + len(model.done)}
    _assert_history(bank, verbs + ["undo"] * len(model.done))
    for _ in range(len(model.done)):
        do(bank, actions.redo)
    assert listed(bank) == model.items


def test_any_edits_give_what_a_plain_list_gives_and_a_whole_history(bank: NuggetBank, anna: Person):
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(STEPS)
    def run(steps: list[Step]) -> None:
        with transaction.atomic():
            bank.refresh_from_db()
            _run(bank, anna, steps)
            transaction.set_rollback(True)

    run()
