"""The only writers of banks. Each is called inside work.writes.once, which is its transaction."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from assessor.collection import history
from assessor.collection.actions import judge_of
from assessor.collection.models import Judge, Person
from assessor.work.models import Task
from assessor.work.writes import BadWrite, Closed, Result, Stale
from nuggets.editing import FIELDS, NuggetList, apply, changes_between
from nuggets.models import BankEdit, Nugget, NuggetBank
from nuggets.queries import findings, next_redo

MAX_CHARACTERS = 2_000  # of a nugget; far above any sensible one

Change = Callable[[NuggetBank, NuggetList, Judge], None]


def prepare_bank(task: Task) -> None:
    """Make the empty bank that a task's person will fill."""
    NuggetBank.objects.create(topic=task.topic, condition=task.condition, maker=judge_of(task.person), task=task)


def add_nugget(bank: NuggetBank, *, uid: UUID, text: str, docid: str, acting_user: Person, seen: int) -> Result:
    """Put a new nugget at the end of the list; docid names the passage that it came from, or is empty."""
    cleaned = _clean(text)
    if not cleaned:
        raise BadWrite("A nugget needs a text.")
    evidence = [{"docid": docid, "start": None, "end": None}] if docid else []

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        if bank.nuggets.filter(uid=uid).exists():
            raise BadWrite("There is a nugget with this uid already.")
        nugget = Nugget.objects.create(bank=bank, uid=uid, text=cleaned, evidence=evidence, made_by=judge)
        nugget_list.order.append(nugget.pk)

    return _edit(bank, "add", change, acting_user, seen)


def reword_nugget(bank: NuggetBank, *, uid: UUID, text: str, acting_user: Person, seen: int) -> Result:
    """Change a nugget's text. An emptied one may be saved: finishing will point to it."""
    cleaned = _clean(text)

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget_list.nuggets[_on_list(bank, nugget_list, uid)]["text"] = cleaned

    return _edit(bank, "reword", change, acting_user, seen)


def set_importance(bank: NuggetBank, *, uid: UUID, importance: str, acting_user: Person, seen: int) -> Result:
    """Say whether a nugget is vital or okay."""
    if importance not in (Nugget.Importance.VITAL, Nugget.Importance.OKAY):
        raise BadWrite("importance must be vital or okay.")

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget_list.nuggets[_on_list(bank, nugget_list, uid)]["importance"] = importance

    return _edit(bank, importance, change, acting_user, seen)


def move_nugget(bank: NuggetBank, *, uid: UUID, to: int, acting_user: Person, seen: int) -> Result:
    """Put a nugget at another place, counted from 0; a place beyond the end is the end."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        pk = _on_list(bank, nugget_list, uid)
        nugget_list.order.remove(pk)
        nugget_list.order.insert(max(0, to), pk)

    return _edit(bank, "move", change, acting_user, seen)


def delete_nugget(bank: NuggetBank, *, uid: UUID, acting_user: Person, seen: int) -> Result:
    """Take a nugget off the list; its record stays."""

    def change(bank: NuggetBank, nugget_list: NuggetList, judge: Judge) -> None:
        nugget_list.order.remove(_on_list(bank, nugget_list, uid))

    return _edit(bank, "delete", change, acting_user, seen)


def undo(bank: NuggetBank, *, acting_user: Person, seen: int) -> Result:
    """Take back the last edit that stands."""
    bank = _locked(bank, seen)
    edit = bank.head
    if edit is None:
        return {"version": bank.version}
    bank.head = edit.parent
    return _replay(bank, "undo", edit, acting_user, backwards=True)


def redo(bank: NuggetBank, *, acting_user: Person, seen: int) -> Result:
    """Make the last edit again that was taken back, if nothing was edited since."""
    bank = _locked(bank, seen)
    edit = next_redo(bank)
    if edit is None:
        return {"version": bank.version}
    bank.head = edit
    return _replay(bank, "redo", edit, acting_user, backwards=False)


def finish_bank(bank: NuggetBank, *, acting_user: Person, seen: int) -> Result:
    """Finish a bank, which makes it read-only, or say what is lacking: {"findings": [...]}."""
    bank = _locked(bank, seen)
    lacking = findings(bank)
    if lacking:
        return {"version": bank.version, "findings": [finding._asdict() for finding in lacking]}
    bank.state = NuggetBank.State.FINISHED
    bank.edition += 1
    bank.finished_at = timezone.now()
    _store(bank, "finish", {}, judge_of(acting_user))
    if bank.task_id:
        task = Task.objects.filter(pk=bank.task_id, state=Task.State.OPEN)
        if not task.update(state=Task.State.FINISHED, total=F("done")):
            raise Closed  # withdrawn meanwhile
    campaign = bank.condition.campaign
    history.record("bank finished", bank, campaign=campaign, person=acting_user, edition=bank.edition, bank=bank.pk)
    return {"version": bank.version, "finished": True}


def _edit(bank: NuggetBank, verb: str, change: Change, acting_user: Person, seen: int) -> Result:
    """Carry out one edit on the version that the person saw, and store what it changed."""
    bank = _locked(bank, seen)
    judge = judge_of(acting_user)
    before = _nugget_list(bank)
    after = before.copy()
    change(bank, after, judge)
    changes = changes_between(before, after)
    if not changes:
        return {"version": bank.version}
    _write_list(bank, after, changes)
    bank.head = _store(bank, verb, changes, judge, parent=bank.head)
    bank.save(update_fields=["head"])
    return {"version": bank.version}


def _replay(bank: NuggetBank, verb: str, edit: BankEdit, acting_user: Person, *, backwards: bool) -> Result:
    nugget_list = _nugget_list(bank)
    apply(nugget_list, edit.changes, backwards=backwards)
    _write_list(bank, nugget_list, edit.changes)
    _store(bank, verb, {}, judge_of(acting_user), about=edit)
    return {"version": bank.version}


def _locked(bank: NuggetBank, seen: int) -> NuggetBank:
    """Return the bank as it is now, locked. Raises Closed or Stale."""
    locked = NuggetBank.objects.select_for_update(of=("self",)).get(pk=bank.pk)
    if locked.state != NuggetBank.State.OPEN:
        raise Closed
    if locked.version != seen:
        raise Stale
    return locked


def _nugget_list(bank: NuggetBank) -> NuggetList:
    nuggets = {nugget.pk: {name: getattr(nugget, name) for name in FIELDS} for nugget in bank.nuggets.all()}
    return NuggetList(list(bank.order), nuggets)


def _write_list(bank: NuggetBank, nugget_list: NuggetList, changes: dict[str, Any]) -> None:
    """Write what the changes touch, and only that."""
    for pk, fields in changes.get("nuggets", {}).items():
        values = {name: nugget_list.nuggets[int(pk)][name] for name in fields}
        Nugget.objects.filter(pk=int(pk), bank=bank).update(**values)
    bank.order = nugget_list.order


def _store(
    bank: NuggetBank,
    verb: str,
    changes: dict[str, Any],
    judge: Judge,
    *,
    parent: BankEdit | None = None,
    about: BankEdit | None = None,
) -> BankEdit:
    """Add the edit to the bank's story, count the version up, and tell the task."""
    bank.version += 1
    edit = BankEdit.objects.create(
        bank=bank, version=bank.version, verb=verb, judge=judge, changes=changes, parent=parent, about=about
    )
    bank.save()
    if bank.task_id:
        Task.objects.filter(pk=bank.task_id).update(done=len(bank.order), worked_at=timezone.now())
    return edit


def _on_list(bank: NuggetBank, nugget_list: NuggetList, uid: UUID) -> int:
    pk = bank.nuggets.filter(uid=uid).values_list("pk", flat=True).first()
    if pk is None or pk not in nugget_list.order:
        raise BadWrite("There is no such nugget on the list.")
    return pk


def _clean(text: str) -> str:
    """Return a nugget's text on one line. Raises BadWrite for one that can't be a nugget's."""
    if "\x00" in text or len(text) > MAX_CHARACTERS:
        raise BadWrite(f"A nugget's text has at most {MAX_CHARACTERS:,} characters and no NUL.")
    return " ".join(text.split())
