"""What all writers of lists share that a person edits. Each is called inside work.writes.once, its transaction."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import DateTimeField, F
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.actions import judge_of
from assessor.campaigns.models import Judge
from assessor.campaigns.signals import ended
from assessor.runtime.sql import Parameter, Prepared
from assessor.work.models import Task
from assessor.work.write_protocol import BadWrite, Closed, Result, SignOfWork, Stale
from nuggets.editing import ItemList, apply, changes_between
from nuggets.models import Edited
from nuggets.queries import next_redo

MAX_CHARACTERS = 2_000  # of a nugget, a gold answer, a sentence, a note, a reading; far above any sensible one
MAX_GOLD = 100  # answers of a question

_EDITED = SignOfWork(
    Task.objects.exclude(state=Task.State.WITHDRAWN),
    done=Parameter("done"),
    worked_at=Parameter("now", DateTimeField()),
)
List = TypeVar("List", bound=Edited)


def locked(edited: List, seen: int) -> List:
    """Return a list as it is now, locked. Raises Closed or Stale."""
    now: Any = next(_locking(type(edited)).fetch(pk=edited.pk))
    if now.state != Edited.State.OPEN:
        raise Closed
    if now.version != seen:
        raise Stale
    now.guidelines_version = edited.guidelines_version
    found: List = now
    return found


@cache
def _locking(model: type[List]) -> Prepared[List]:
    return Prepared(model._default_manager.select_for_update(of=("self",)).filter(pk=Parameter("pk")))


def store(
    edited: Any,
    verb: str,
    changes: dict[str, Any],
    judge: Judge,
    *,
    can_be_undone: bool = False,
    about: Any | None = None,
) -> None:
    """Add an edit to a list's story, count the version up, save the list, and tell the task. Raises Closed."""
    edited.version += 1
    edit = edited.edits.create(
        version=edited.version,
        verb=verb,
        judge=judge,
        changes=changes,
        parent=edited.head if can_be_undone else None,
        about=about,
        guidelines_version=edited.guidelines_version,
    )
    if can_be_undone:
        edited.head = edit
    edited.save()
    if edited.task_id is None:
        return
    # The task was read before the list was locked: it may have been withdrawn since.
    if not _EDITED.carry_out(task=edited.task_id, done=edited.count_done(), now=timezone.now()):
        raise Closed


def edit_list(
    edited: Any, verb: str, change: Callable[[Any, Any, Judge], None], acting_user: Person, seen: int
) -> Result:
    """Carry out one edit on the version that the person saw, and store what it changed.

    change: gets the list's record, the list as plain values, which it changes, and who acts.
    """
    edited = locked(edited, seen)
    judge = judge_of(acting_user)
    before = _as_list(edited)
    after = before.copy()
    change(edited, after, judge)
    changes = changes_between(before, after)
    if not changes:
        return {"version": edited.version}
    _write(edited, after, changes)
    store(edited, verb, changes, judge, can_be_undone=True)
    return {"version": edited.version}


def hand_in(edited: Any, verb: str, acting_user: Person) -> None:
    """Make a list read-only, and its task finished."""
    edited.state = Edited.State.FINISHED
    edited.edition += 1
    edited.finished_at = timezone.now()
    store(edited, verb, {}, judge_of(acting_user))
    if edited.task_id:
        Task.objects.filter(pk=edited.task_id).update(state=Task.State.FINISHED, total=F("done"), leased_until=None)
        ended.send(Task, campaign_id=edited.condition.campaign_id, pks=[edited.task_id])


def undo(edited: Any, *, acting_user: Person, seen: int) -> Result:
    """Take back the last edit that stands."""
    edited = locked(edited, seen)
    edit = edited.head
    if edit is None:
        return {"version": edited.version}
    edited.head = edit.parent
    return _replay(edited, "undo", edit, acting_user, backwards=True)


def redo(edited: Any, *, acting_user: Person, seen: int) -> Result:
    """Make the last edit again that was taken back, if nothing was edited since."""
    edited = locked(edited, seen)
    edit = next_redo(edited)
    if edit is None:
        return {"version": edited.version}
    edited.head = edit
    return _replay(edited, "redo", edit, acting_user, backwards=False)


def _replay(edited: Any, verb: str, edit: Any, acting_user: Person, *, backwards: bool) -> Result:
    now = _as_list(edited)
    apply(now, edit.changes, backwards=backwards)
    _write(edited, now, edit.changes)
    store(edited, verb, {}, judge_of(acting_user), about=edit)
    return {"version": edited.version}


def _as_list(edited: Any) -> ItemList:
    items = {item.name: {name: _as_json(getattr(item, name)) for name in edited.FIELDS} for item in edited.items.all()}
    found: ItemList = edited.LIST(list(edited.order), items)
    return found


def _as_json(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value


def _write(edited: Any, now: ItemList, changes: dict[str, Any]) -> None:
    """Write what the changes touch, and only that."""
    for uid, fields in changes.get(now.called, {}).items():
        edited.items.filter(uid=uid).update(**{name: now.items[uid][name] for name in fields})
    edited.order = now.order


def on_one_line(text: str) -> str:
    """Return a text of an editor with its blanks folded. Raises BadWrite for one that can't be kept."""
    if "\x00" in text or len(text) > MAX_CHARACTERS:
        raise BadWrite(f"A text has at most {MAX_CHARACTERS:,} characters and no NUL.")
    return " ".join(text.split())
