"""The edits of a nugget list, which undo takes back. Each is called inside work.writes.once, its transaction."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.utils.formats import number_format
from django.utils.translation import gettext

from assessor.accounts.models import Person
from assessor.campaigns.models import Judge
from assessor.work.write_protocol import BadWrite, Result
from nuggets.actions.base import MAX_CHARACTERS, MAX_GOLD, edit_list, on_one_line
from nuggets.condition_kind import nugget_kind
from nuggets.editing import NuggetList, united, united_gold
from nuggets.models import Nugget, NuggetBank
from nuggets.queries import passage_text

Evidence = dict[str, Any]  # {"docid", "start", "end"}: characters of the segment's text, or both None for all of it
MAX_MERGED = 100
_OF_HALVES = ("note", "evidence", "gold", "last_gold", "aggregator")  # what both have of the nugget that is split


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
    cleaned = _nugget_text(bank, text)
    if importance not in Nugget.Importance.values:
        raise BadWrite("importance must be vital, okay or empty.")
    if evidence:
        check_evidence(bank, evidence)
    gold = nugget_kind(bank.condition).gold
    places = [evidence] if evidence else []

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget = _new(bank, judge, uid, text=cleaned, importance=importance, evidence=places, gold=gold)
        nugget_list.order.append(nugget.name)

    return edit_list(bank, "add", change, acting_user, seen)


def keep_draft(bank: NuggetBank, *, uid: UUID, acting_user: Person, seen: int) -> Result:
    """Decide that a draft stays as it is."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget_list.items[on_list(bank, nugget_list, uid)]["is_undecided"] = False

    return edit_list(bank, "keep", change, acting_user, seen)


def reword_nugget(bank: NuggetBank, *, uid: UUID, text: str, acting_user: Person, seen: int) -> Result:
    """Change a nugget's text, which decides a draft. An emptied one may be saved: finishing will point to it."""
    cleaned = on_one_line(text)

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget = nugget_list.items[on_list(bank, nugget_list, uid)]
        if nugget["text"] != cleaned:
            nugget |= {"text": cleaned, "is_undecided": False}

    return edit_list(bank, "reword", change, acting_user, seen)


def set_importance(bank: NuggetBank, *, uid: UUID, importance: str, acting_user: Person, seen: int) -> Result:
    """Say whether a nugget is vital or okay, which decides a draft."""
    if importance not in (Nugget.Importance.VITAL, Nugget.Importance.OKAY):
        raise BadWrite("importance must be vital or okay.")

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget_list.items[on_list(bank, nugget_list, uid)] |= {"importance": importance, "is_undecided": False}

    return edit_list(bank, importance, change, acting_user, seen)


def move_nugget(bank: NuggetBank, *, uid: UUID, to: int, acting_user: Person, seen: int) -> Result:
    """Put a nugget at another place, counted from 0; a place beyond the end is the end."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget_list.move(on_list(bank, nugget_list, uid), to)

    return edit_list(bank, "move", change, acting_user, seen)


def delete_nugget(bank: NuggetBank, *, uid: UUID, acting_user: Person, seen: int) -> Result:
    """Take a nugget off the list; its record stays."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget_list.replace(on_list(bank, nugget_list, uid), [])

    return edit_list(bank, "delete", change, acting_user, seen)


def attach_evidence(bank: NuggetBank, *, uid: UUID, evidence: Evidence, acting_user: Person, seen: int) -> Result:
    """Add a place in a passage to those that a nugget rests on."""
    check_evidence(bank, evidence)

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget = nugget_list.items[on_list(bank, nugget_list, uid)]
        nugget["evidence"] = united([nugget["evidence"], [evidence]])

    return edit_list(bank, "attach", change, acting_user, seen)


def detach_evidence(bank: NuggetBank, *, uid: UUID, evidence: Evidence, acting_user: Person, seen: int) -> Result:
    """Take a place in a passage away from those that a nugget rests on."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget = nugget_list.items[on_list(bank, nugget_list, uid)]
        nugget["evidence"] = [item for item in nugget["evidence"] if item != evidence]

    return edit_list(bank, "detach", change, acting_user, seen)


def merge_nuggets(
    bank: NuggetBank, *, uids: Sequence[UUID], uid: UUID, text: str, acting_user: Person, seen: int
) -> Result:
    """Put one nugget in the place of the first of several, which leave the list.

    It has all of their evidence, notes and gold answers, and their importance and aggregator where they agree; else
    those are to be decided anew.
    """
    cleaned = _nugget_text(bank, text)
    if not 2 <= len(set(uids)) == len(uids) <= MAX_MERGED:
        raise BadWrite(f"Two to {MAX_MERGED} different {nugget_kind(bank.condition).thing}s can be merged.")

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        chosen = {on_list(bank, nugget_list, uid) for uid in uids}
        parents = [name for name in nugget_list.order if name in chosen]
        fields = [nugget_list.items[name] for name in parents]
        notes = {nugget.name: nugget.note for nugget in bank.nuggets.filter(uid__in=parents)}
        note = " / ".join(dict.fromkeys(notes[name] for name in parents if notes[name]))  # halves share theirs
        if len(note) > MAX_CHARACTERS:
            told = gettext("Together the notes have more than {most} characters: shorten one first.")
            raise BadWrite(told.format(most=number_format(MAX_CHARACTERS, force_grouping=True)))
        gold = None if fields[0]["gold"] is None else united_gold(nugget["gold"] for nugget in fields)
        if gold and len(gold) > MAX_GOLD:
            raise BadWrite(gettext("Together they have more than {most} gold answers.").format(most=MAX_GOLD))
        for name in parents[1:]:
            nugget_list.replace(name, [])
        nugget_list.replace(parents[0], [str(uid)])
        _new(
            bank,
            judge,
            uid,
            text=cleaned,
            origin=Nugget.Origin.MERGED,
            parents=parents,
            evidence=united([nugget["evidence"] for nugget in fields]),
            note=note,
            gold=gold,
            last_gold=len(gold or ()),
            under=nugget_list.items[str(uid)]["under"],
            **{name: _agreed(nugget[name] for nugget in fields) for name in ("importance", "aggregator")},
        )

    return edit_list(bank, "merge", change, acting_user, seen)


def split_nugget(
    bank: NuggetBank, *, uid: UUID, into: Sequence[tuple[UUID, str]], acting_user: Person, seen: int
) -> Result:
    """Put two nuggets (uid and text of each) in the place of one.

    Both have its evidence, note and gold answers; how important each of them is has to be decided anew.
    """
    cleaned = [(part_uid, _nugget_text(bank, text)) for part_uid, text in into]
    if len({part_uid for part_uid, _ in cleaned}) != 2 or len(cleaned) != 2:
        raise BadWrite(f"A {nugget_kind(bank.condition).thing} is split into two.")

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        name = on_list(bank, nugget_list, uid)
        nugget = bank.nuggets.get(uid=uid)
        same: dict[str, Any] = {field: getattr(nugget, field) for field in _OF_HALVES}
        same |= {"under": nugget.under, "origin": Nugget.Origin.SPLIT, "parents": [name]}
        parts = [_new(bank, judge, part_uid, text=text, **same).name for part_uid, text in cleaned]
        nugget_list.replace(name, parts)

    return edit_list(bank, "split", change, acting_user, seen)


def on_list(bank: NuggetBank, nugget_list: NuggetList, uid: UUID) -> str:
    """Return what a list calls a nugget that is on it. Raises BadWrite for another."""
    if str(uid) not in nugget_list.order:
        raise BadWrite(f"There is no such {nugget_kind(bank.condition).thing} on the list.")
    return str(uid)


def _new(bank: NuggetBank, judge: Judge, uid: UUID, **fields: Any) -> Nugget:
    if bank.nuggets.filter(uid=uid).exists():
        raise BadWrite(f"There is a {nugget_kind(bank.condition).thing} with this uid already.")
    return Nugget.objects.create(bank=bank, uid=uid, made_by=judge, **fields)


def _agreed(values: Iterable[str]) -> str:
    """Return what all values are, or "" where they differ."""
    different = set(values)
    return different.pop() if len(different) == 1 else ""


def _nugget_text(bank: NuggetBank, text: str) -> str:
    cleaned = on_one_line(text)
    if not cleaned:
        raise BadWrite(f"A {nugget_kind(bank.condition).thing} needs a text.")
    return cleaned


def check_evidence(bank: NuggetBank, evidence: Evidence) -> None:
    """Raise BadWrite where evidence is no place in a passage that the person can see."""
    text = passage_text(bank, evidence["docid"])
    if text is None:
        raise BadWrite("There is no such passage on this topic.")
    start, end = evidence["start"], evidence["end"]
    if (start, end) != (None, None) and not 0 <= start < end <= len(text):
        raise BadWrite(f"start and end must be characters of the passage, which has {len(text)}.")
