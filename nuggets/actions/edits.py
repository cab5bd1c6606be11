"""The edits of a nugget list, which undo takes back. Each is called inside work.writes.once, its transaction."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from assessor.accounts.models import Person
from assessor.campaigns.actions import judge_of
from assessor.campaigns.models import Judge
from assessor.work.write_protocol import BadWrite, Result
from nuggets.actions.base import MAX_CHARACTERS, locked_bank, on_one_line, store
from nuggets.editing import FIELDS, NuggetList, apply, changes_between
from nuggets.models import BankEdit, Nugget, NuggetBank
from nuggets.queries import next_redo, passage_text

Change = Callable[[NuggetBank, NuggetList, Judge], None]
Evidence = dict[str, Any]  # {"docid", "start", "end"}: characters of the segment's text, or both None for all of it
MAX_MERGED = 100


def add_nugget(
    bank: NuggetBank,
    *,
    uid: UUID,
    text: str,
    evidence: Evidence | None,
    importance: str = Nugget.Importance.UNSET,
    acting_user: Person,
    seen: int,
) -> Result:
    """Put a new nugget at the end of the list, with the place in a passage that it came from, if any."""
    cleaned = _nugget_text(text)
    if importance not in Nugget.Importance.values:
        raise BadWrite("importance must be vital, okay or empty.")
    if evidence:
        _check_evidence(bank, evidence)

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget = _new(bank, judge, uid, text=cleaned, importance=importance, evidence=[evidence] if evidence else [])
        nugget_list.order.append(nugget.name)

    return _edit(bank, "add", change, acting_user, seen)


def keep_draft(bank: NuggetBank, *, uid: UUID, acting_user: Person, seen: int) -> Result:
    """Decide that a draft stays as it is."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget_list.nuggets[_on_list(nugget_list, uid)]["is_undecided"] = False

    return _edit(bank, "keep", change, acting_user, seen)


def reword_nugget(bank: NuggetBank, *, uid: UUID, text: str, acting_user: Person, seen: int) -> Result:
    """Change a nugget's text, which decides a draft. An emptied one may be saved: finishing will point to it."""
    cleaned = on_one_line(text)

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget = nugget_list.nuggets[_on_list(nugget_list, uid)]
        if nugget["text"] != cleaned:
            nugget |= {"text": cleaned, "is_undecided": False}

    return _edit(bank, "reword", change, acting_user, seen)


def set_importance(bank: NuggetBank, *, uid: UUID, importance: str, acting_user: Person, seen: int) -> Result:
    """Say whether a nugget is vital or okay, which decides a draft."""
    if importance not in (Nugget.Importance.VITAL, Nugget.Importance.OKAY):
        raise BadWrite("importance must be vital or okay.")

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget_list.nuggets[_on_list(nugget_list, uid)] |= {"importance": importance, "is_undecided": False}

    return _edit(bank, importance, change, acting_user, seen)


def move_nugget(bank: NuggetBank, *, uid: UUID, to: int, acting_user: Person, seen: int) -> Result:
    """Put a nugget at another place, counted from 0; a place beyond the end is the end."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        name = _on_list(nugget_list, uid)
        nugget_list.order.remove(name)
        nugget_list.order.insert(max(0, to), name)

    return _edit(bank, "move", change, acting_user, seen)


def delete_nugget(bank: NuggetBank, *, uid: UUID, acting_user: Person, seen: int) -> Result:
    """Take a nugget off the list; its record stays."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget_list.order.remove(_on_list(nugget_list, uid))

    return _edit(bank, "delete", change, acting_user, seen)


def attach_evidence(bank: NuggetBank, *, uid: UUID, evidence: Evidence, acting_user: Person, seen: int) -> Result:
    """Add a place in a passage to those that a nugget rests on."""
    _check_evidence(bank, evidence)

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget = nugget_list.nuggets[_on_list(nugget_list, uid)]
        nugget["evidence"] = _united([nugget["evidence"], [evidence]])

    return _edit(bank, "attach", change, acting_user, seen)


def detach_evidence(bank: NuggetBank, *, uid: UUID, evidence: Evidence, acting_user: Person, seen: int) -> Result:
    """Take a place in a passage away from those that a nugget rests on."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget = nugget_list.nuggets[_on_list(nugget_list, uid)]
        nugget["evidence"] = [item for item in nugget["evidence"] if item != evidence]

    return _edit(bank, "detach", change, acting_user, seen)


def merge_nuggets(
    bank: NuggetBank, *, uids: Sequence[UUID], uid: UUID, text: str, acting_user: Person, seen: int
) -> Result:
    """Put one nugget in the place of the first of several, which leave the list.

    It has all of their evidence and notes, and their importance where they agree; else that is to be decided anew.
    """
    cleaned = _nugget_text(text)
    if not 2 <= len(set(uids)) == len(uids) <= MAX_MERGED:
        raise BadWrite(f"Two to {MAX_MERGED} different nuggets can be merged.")

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        chosen = {_on_list(nugget_list, uid) for uid in uids}
        parents = [name for name in nugget_list.order if name in chosen]
        fields = [nugget_list.nuggets[name] for name in parents]
        notes = {nugget.name: nugget.note for nugget in bank.nuggets.filter(uid__in=parents)}
        note = " / ".join(dict.fromkeys(notes[name] for name in parents if notes[name]))  # halves share theirs
        if len(note) > MAX_CHARACTERS:
            raise BadWrite(f"Together the notes have more than {MAX_CHARACTERS:,} characters: shorten one first.")
        importance = {nugget["importance"] for nugget in fields}
        merged = _new(
            bank,
            judge,
            uid,
            text=cleaned,
            origin=Nugget.Origin.MERGED,
            parents=parents,
            evidence=_united([nugget["evidence"] for nugget in fields]),
            importance=importance.pop() if len(importance) == 1 else Nugget.Importance.UNSET,
            note=note,
        )
        nugget_list.order.insert(nugget_list.order.index(parents[0]), merged.name)
        nugget_list.order = [name for name in nugget_list.order if name not in chosen]

    return _edit(bank, "merge", change, acting_user, seen)


def split_nugget(
    bank: NuggetBank, *, uid: UUID, into: Sequence[tuple[UUID, str]], acting_user: Person, seen: int
) -> Result:
    """Put two nuggets (uid and text of each) in the place of one.

    Both have its evidence and note; how important each of them is has to be decided anew.
    """
    cleaned = [(part_uid, _nugget_text(text)) for part_uid, text in into]
    if len({part_uid for part_uid, _ in cleaned}) != 2 or len(cleaned) != 2:
        raise BadWrite("A nugget is split into two.")

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        name = _on_list(nugget_list, uid)
        shared = {"origin": Nugget.Origin.SPLIT, "parents": [name], "note": bank.nuggets.get(uid=uid).note}
        shared["evidence"] = nugget_list.nuggets[name]["evidence"]
        parts = [_new(bank, judge, part_uid, text=text, **shared).name for part_uid, text in cleaned]
        place = nugget_list.order.index(name)
        nugget_list.order[place : place + 1] = parts

    return _edit(bank, "split", change, acting_user, seen)


def undo(bank: NuggetBank, *, acting_user: Person, seen: int) -> Result:
    """Take back the last edit that stands."""
    bank = locked_bank(bank, seen)
    edit = bank.head
    if edit is None:
        return {"version": bank.version}
    bank.head = edit.parent
    return _replay(bank, "undo", edit, acting_user, backwards=True)


def redo(bank: NuggetBank, *, acting_user: Person, seen: int) -> Result:
    """Make the last edit again that was taken back, if nothing was edited since."""
    bank = locked_bank(bank, seen)
    edit = next_redo(bank)
    if edit is None:
        return {"version": bank.version}
    bank.head = edit
    return _replay(bank, "redo", edit, acting_user, backwards=False)


def _edit(bank: NuggetBank, verb: str, change: Change, acting_user: Person, seen: int) -> Result:
    """Carry out one edit on the version that the person saw, and store what it changed."""
    bank = locked_bank(bank, seen)
    judge = judge_of(acting_user)
    before = _nugget_list(bank)
    after = before.copy()
    change(bank, after, judge)
    changes = changes_between(before, after)
    if not changes:
        return {"version": bank.version}
    _write_list(bank, after, changes)
    bank.head = store(bank, verb, changes, judge, parent=bank.head)
    bank.save(update_fields=["head"])
    return {"version": bank.version}


def _replay(bank: NuggetBank, verb: str, edit: BankEdit, acting_user: Person, *, backwards: bool) -> Result:
    nugget_list = _nugget_list(bank)
    apply(nugget_list, edit.changes, backwards=backwards)
    _write_list(bank, nugget_list, edit.changes)
    store(bank, verb, {}, judge_of(acting_user), about=edit)
    return {"version": bank.version}


def _nugget_list(bank: NuggetBank) -> NuggetList:
    nuggets = {nugget.name: {name: getattr(nugget, name) for name in FIELDS} for nugget in bank.nuggets.all()}
    return NuggetList(list(bank.order), nuggets)


def _write_list(bank: NuggetBank, nugget_list: NuggetList, changes: dict[str, Any]) -> None:
    """Write what the changes touch, and only that."""
    for uid, fields in changes.get("nuggets", {}).items():
        values = {name: nugget_list.nuggets[uid][name] for name in fields}
        Nugget.objects.filter(uid=uid, bank=bank).update(**values)
    bank.order = nugget_list.order


def _on_list(nugget_list: NuggetList, uid: UUID) -> str:
    if str(uid) not in nugget_list.order:
        raise BadWrite("There is no such nugget on the list.")
    return str(uid)


def _new(bank: NuggetBank, judge: Judge, uid: UUID, **fields: Any) -> Nugget:
    if bank.nuggets.filter(uid=uid).exists():
        raise BadWrite("There is a nugget with this uid already.")
    return Nugget.objects.create(bank=bank, uid=uid, made_by=judge, **fields)


def _nugget_text(text: str) -> str:
    cleaned = on_one_line(text)
    if not cleaned:
        raise BadWrite("A nugget needs a text.")
    return cleaned


def _united(lists: Sequence[list[Evidence]]) -> list[Evidence]:
    """Return the evidence of several nuggets, each place once, in their order."""
    united: list[Evidence] = []
    for evidence in lists:
        united.extend(item for item in evidence if item not in united)
    return united


def _check_evidence(bank: NuggetBank, evidence: Evidence) -> None:
    """Raise BadWrite where evidence is no place in a passage that the person can see."""
    text = passage_text(bank, evidence["docid"])
    if text is None:
        raise BadWrite("There is no such passage on this topic.")
    start, end = evidence["start"], evidence["end"]
    if (start, end) != (None, None) and not 0 <= start < end <= len(text):
        raise BadWrite(f"start and end must be characters of the passage, which has {len(text)}.")
