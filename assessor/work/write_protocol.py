"""The rules of every write of an assessor, and how it is answered over HTTP.

Sent twice it counts once; sent on an old version it is refused; what is said of finished work is refused; and each is a
sign of work, with which the lease of a drawn topic begins anew.
"""

import hashlib
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import (
    Case,
    Count,
    DateTimeField,
    F,
    IntegerField,
    Max,
    Q,
    QuerySet,
    Sum,
    UUIDField,
    When,
)
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_POST

from assessor.accounts.languages import in_own_language
from assessor.accounts.models import Person
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.signals import ended
from assessor.runtime.fields import JSONText
from assessor.runtime.sql import Parameter, PreparedUpdate, insert, row_as_kept
from assessor.work.access import NotAmongOwn
from assessor.work.models import MAX_REASON, Task, Write

MAX_SECONDS = 3_600  # on one label
_LEFT = Q(to_do__gt=0)
SIGNED_OFF = gettext_noop("This topic is signed off: its labels can be read, no longer changed.")

Result = dict[str, Any]
Own = TypeVar("Own")
CarryOut = Callable[[PersonRequest, Own, int], Result]


class Stale(Exception):
    """The write was made on an older version than the present one."""


class Closed(Exception):
    """What was to be written is finished and read-only."""


class BadWrite(Exception):
    """The request lacks what every write must carry, or carries something impossible."""


class Gone(Exception):
    """Nobody is asked about an item of a sheet any more, or not yet; the text says so."""


class Sent(NamedTuple):
    """What every write carries: its key and the version that the person saw."""

    key: UUID
    seen: int
    request: str  # sha256 of what is asked


def sent(request: HttpRequest) -> Sent:
    """Read the key and version of a POST. Raises BadWrite."""
    try:
        key, seen = UUID(request.POST["key"]), int(request.POST["version"])
    except (KeyError, ValueError) as error:
        raise BadWrite("A write needs a key (UUID) and the version that it was made on.") from error
    fields = sorted((name, value) for name, value in request.POST.items() if name != "csrfmiddlewaretoken")
    asked = repr((request.path, fields))
    return Sent(key, seen, hashlib.sha256(asked.encode()).hexdigest())


def number(request: HttpRequest, field: str) -> int:
    """Read a whole number, from 0, of a POST. Raises BadWrite."""
    text = request.POST.get(field, "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadWrite(f"{field} must be a whole number, from 0.")
    return int(text)


def once(task: Task, write: Sent, carry_out: Callable[[], Result]) -> Result:
    """Carry out a write of a task's person whose key is new; for a known key return what came of it the first time.

    The key is stored in the transaction of the write itself, first of all: of two equal requests at once the
    second waits for the first, and then finds its key.
    """
    try:
        with transaction.atomic():
            told = {
                "key": write.key,
                "campaign": task.campaign_id,
                "person": task.person_id,
                "request": write.request,
                "at": timezone.now(),
            }
            insert(Write, tuple(told), [row_as_kept(Write, told, told.values())])
            if result := carry_out():
                _RESULT.carry_out(key=write.key, result=result)
            return result
    except IntegrityError:
        earlier = Write.objects.filter(key=write.key).first()
        if earlier is None:
            raise
    if earlier.person_id != task.person_id or earlier.request != write.request:
        raise BadWrite("This key was used for another write.")
    return dict(earlier.result or {})


def new_end() -> datetime:
    """Return until when a lease holds that begins now."""
    end: datetime = timezone.now() + settings.TOPIC_LEASE
    return end


class SignOfWork(PreparedUpdate):
    """What changes on a task when its person does something there; a lease begins anew, if it has one.

    tasks: with the Parameter "task", the key; changes: of update().
    """

    def __init__(self, tasks: QuerySet[Task], **changes: Any) -> None:
        lease = Case(When(leased_until__isnull=False, then=Parameter("until", DateTimeField())))
        super().__init__(tasks.filter(pk=Parameter("task")), leased_until=lease, **changes)

    def carry_out(self, **values: Any) -> int:
        return super().carry_out(until=new_end(), **values)


_WORK = SignOfWork(
    Task.objects.filter(state=Task.State.OPEN),
    worked_at=Parameter("now", DateTimeField()),
    done=F("done") + Parameter("done", IntegerField()),
)
_RESULT = PreparedUpdate(
    Write.objects.filter(key=Parameter("key", UUIDField())), result=Parameter("result", JSONText())
)


def on_one_line(text: str) -> str:
    """Return a reason or a note with its blanks folded. Raises BadWrite."""
    folded = " ".join(text.split())
    if len(folded) > MAX_REASON or "\x00" in folded:
        raise BadWrite(f"A reason or a note has at most {MAX_REASON} characters and no NUL.")
    return folded


def counted(seconds: int | None) -> int | None:
    """Return the active time that is kept of what a browser told."""
    return None if seconds is None else min(seconds, MAX_SECONDS)


def require_present(sheet: Any, closed: str, seen: int) -> None:
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
    # The task was read before this locks it: it may have been signed off or withdrawn since.
    if not _WORK.carry_out(task=task.pk, done=done, now=timezone.now()):
        raise Closed(gettext(SIGNED_OFF))


def end(task: Task) -> None:
    """Lock a task and sign it off, before anything is looked at: whoever says something meanwhile finds it so.

    Raises Closed.
    """
    signed_off = {"state": Task.State.FINISHED, "leased_until": None}
    if not Task.objects.filter(pk=task.pk, state=Task.State.OPEN).update(**signed_off):
        raise Closed(gettext(SIGNED_OFF))
    ended.send(Task, campaign_id=task.campaign_id, pks=[task.pk])


def require_all_said(task: Task, sheets: QuerySet[Any], seen: int, left: Q = _LEFT) -> None:
    """Raise Stale where a person's sheets of a task are not as they saw them, BadWrite where something is to be said.

    seen: the sum of their versions; left: of which something is.
    """
    told = sheets.aggregate(versions=Sum("version"), left=Count("pk", filter=left))
    if (told["versions"] or 0) != seen:
        raise Stale
    if told["left"]:
        texts = f"{task.condition.text_name}s"
        raise BadWrite(
            gettext("There is still something to say of {number} of the {texts}.").format(
                number=told["left"], texts=gettext(texts)
            )
        )


def writes_on(
    own_sheet: Callable[[Person, int, int], Own], standing: Callable[[Own], dict[str, Any]]
) -> Callable[[CarryOut[Own]], Callable[..., HttpResponse]]:
    """Return what makes a view of a write on one of the person's own sheets, which own_sheet() reads.

    200: done, now or the first time this key was sent. 409: the sheet was changed meanwhile, or nothing can be said of
    it any more; what stands there comes with it, as standing() tells it. 410: nobody is asked about the item now. 400:
    the request itself is wrong. 404: not theirs.
    """

    def make(carry_out: CarryOut[Own]) -> Callable[..., HttpResponse]:
        @require_POST
        @in_own_language
        @wraps(carry_out)
        def view(request: PersonRequest, task_id: int, sheet_id: int) -> HttpResponse:
            try:
                response = answer(request, task_id, sheet_id)
            except NotAmongOwn as error:
                response = refused(404, error)
            return ours(response)

        def answer(request: PersonRequest, task_id: int, sheet_id: int) -> HttpResponse:
            own: Any = own_sheet(request.user, task_id, sheet_id)

            def on_present() -> Result:
                """Carry it out on the version that it is about, though the scope may change at this very moment."""
                nonlocal own
                meant = own.sheet.version_meant(asked.seen)
                try:
                    result = carry_out(request, own, meant)
                except Stale:
                    own = own_sheet(request.user, task_id, sheet_id)
                    if own.sheet.version_meant(asked.seen) == meant:
                        raise
                    return on_present()
                return result if meant == asked.seen else result | {"version": meant + 1}

            try:
                asked = sent(request)
                result = once(own.task, asked, on_present)
            except BadWrite as error:
                return refused(400, error)
            except Gone as error:
                return refused(410, error)
            except (Stale, Closed) as error:
                now: Any = own_sheet(request.user, task_id, sheet_id)
                told = {name: getattr(now.sheet, name) for name in ("version", "to_do", "put_off")}
                closed = str(error) if isinstance(error, Closed) else ""
                return JsonResponse(told | standing(now) | {"closed": closed}, status=409)
            if own.sheet.version == asked.seen:  # another request carried it out after this one read the sheet
                own = own_sheet(request.user, task_id, sheet_id)
            # The version that this very write made: there may have been others since, unseen by who sends it again.
            return JsonResponse({"version": asked.seen + 1} | result | {"to_do": own.sheet.to_do})

        return view

    return make


@in_own_language
def signed_off(request: PersonRequest, task: Task, sign_off: Callable[..., Result]) -> HttpResponse:
    """Answer to a task's being signed off. 200, 400, 409: as with writes on a sheet; 409 says why."""
    try:
        asked = sent(request)
        once(task, asked, lambda: sign_off(task, acting_user=request.user, seen=asked.seen))
    except BadWrite as error:
        return ours(refused(400, error))
    except Closed as error:
        return ours(JsonResponse({"closed": str(error)}, status=409))
    except Stale:
        return ours(JsonResponse({"closed": ""}, status=409))
    messages.success(request, gettext("Signed off: your labels of this topic can be read, no longer changed."))
    return ours(JsonResponse({}))


def ours(response: HttpResponse) -> HttpResponse:
    """Mark an answer: by this the outbox knows the server from whatever else may answer in its place."""
    response["X-Assay-Write"] = "1"
    return response


def refused(status: int, error: Exception) -> HttpResponse:
    """Say in plain text why a write was refused."""
    return HttpResponse(str(error), status=status, content_type="text/plain")


def seconds(request: PersonRequest) -> int | None:
    """Return the active time that a write tells, if it does. Raises BadWrite."""
    return number(request, "seconds") if "seconds" in request.POST else None
