"""What all that people say on their sheets has in common: how long it may be, what it is on, and what ends it."""

from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.utils import timezone

from assessor.work.leases import sign_of_work
from assessor.work.models import MAX_REASON, Task
from assessor.work.sheets import Sheet
from assessor.work.writes import BadWrite, Closed, Stale

MAX_SECONDS = 3_600  # on one label
SIGNED_OFF = "This topic is signed off: its labels can be read, no longer changed."


class Gone(Exception):
    """Nobody is asked about an item of a sheet any more, or not yet; the text says so."""


def on_one_line(text: str) -> str:
    """Return a reason or a note with its blanks folded. Raises BadWrite."""
    folded = " ".join(text.split())
    if len(folded) > MAX_REASON or "\x00" in folded:
        raise BadWrite(f"A reason or a note has at most {MAX_REASON} characters and no NUL.")
    return folded


def counted(seconds: int | None) -> int | None:
    """Return the active time that is kept of what a browser told."""
    return None if seconds is None else min(seconds, MAX_SECONDS)


def require_present(sheet: Sheet, closed: str, seen: int) -> None:
    """Raise Closed where a sheet is (closed says why), and Stale where it was changed since the person saw it."""
    if closed:
        raise Closed(closed)
    if sheet.version != seen:
        raise Stale


def place_in_queue(sheets: QuerySet[Any], to: int | None) -> int:
    """Return where a sheet goes that is put off: behind all of the person's, or to a place before. Raises BadWrite."""
    last: int = sheets.aggregate(last=Max("put_off"))["last"]
    if to is not None and to > last:
        raise BadWrite("There is no such place in the queue.")
    return last + 1 if to is None else to


def note_work(task: Task, done: int) -> None:
    """Note on a task that its person has just said something, by which so many more items are done. Raises Closed."""
    told = sign_of_work() | {"worked_at": timezone.now()}
    if done:
        told["done"] = F("done") + done
    # The task was read before this locks it: it may have been signed off or withdrawn since.
    if not Task.objects.filter(pk=task.pk, state=Task.State.OPEN).update(**told):
        raise Closed(SIGNED_OFF)


def end(task: Task) -> None:
    """Lock a task and sign it off, before anything is looked at: whoever says something meanwhile finds it so.

    Raises Closed.
    """
    signed_off = {"state": Task.State.FINISHED, "leased_until": None}
    if not Task.objects.filter(pk=task.pk, state=Task.State.OPEN).update(**signed_off):
        raise Closed(SIGNED_OFF)


def require_all_said(sheets: QuerySet[Any], seen: int) -> None:
    """Raise Stale where a person's sheets are not as they saw them, BadWrite where something is to be said.

    seen: the sum of their versions.
    """
    told = sheets.aggregate(versions=Sum("version"), left=Count("pk", filter=Q(to_do__gt=0)))
    if (told["versions"] or 0) != seen:
        raise Stale
    if told["left"]:
        raise BadWrite(f"There is still something to say of {told['left']} of the answers.")
