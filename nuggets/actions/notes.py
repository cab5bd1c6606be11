"""What a maker notes for themselves. It is kept in the bank's story like all else, but undo does not touch it."""

from uuid import UUID

from assessor.accounts.models import Person
from assessor.campaigns.actions import judge_of
from assessor.work.write_protocol import BadWrite, Result
from nuggets.actions.base import locked, on_one_line, store
from nuggets.condition_kind import nugget_kind
from nuggets.models import NuggetBank
from nuggets.queries import passage_text


def set_reading(bank: NuggetBank, *, text: str, acting_user: Person, seen: int) -> Result:
    """Note how the person reads the topic."""
    bank = locked(bank, seen)
    before, bank.reading = bank.reading, on_one_line(text)
    if before != bank.reading:
        store(bank, "reading", {"reading": [before, bank.reading]}, judge_of(acting_user))
    return {"version": bank.version}


def set_note(bank: NuggetBank, *, uid: UUID, text: str, acting_user: Person, seen: int) -> Result:
    """Note something on a nugget, for the person alone."""
    bank = locked(bank, seen)
    nugget = bank.nuggets.filter(uid=uid).first()
    if nugget is None or nugget.name not in bank.order:
        raise BadWrite(f"There is no such {nugget_kind(bank.condition).thing} on the list.")
    before, nugget.note = nugget.note, on_one_line(text)
    if before != nugget.note:
        nugget.save(update_fields=["note"])
        store(bank, "note", {"nuggets": {nugget.name: {"note": [before, nugget.note]}}}, judge_of(acting_user))
    return {"version": bank.version}


def mark_passage(bank: NuggetBank, *, docid: str, is_read: bool, acting_user: Person, seen: int) -> Result:
    """Mark a passage as read, or take the mark away."""
    bank = locked(bank, seen)
    if passage_text(bank, docid) is None:
        raise BadWrite("There is no such passage on this topic.")
    before = list(bank.read_passages)
    if is_read == (docid in before):
        return {"version": bank.version}
    bank.read_passages = [*before, docid] if is_read else [other for other in before if other != docid]
    store(bank, "read", {"passage": docid, "read": [not is_read, is_read]}, judge_of(acting_user))
    return {"version": bank.version}
