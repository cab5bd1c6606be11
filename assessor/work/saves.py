"""Writes on sheets over HTTP: each is carried out once, and answered with the version that it made or why not."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from assessor.collection.http import PersonRequest
from assessor.collection.models import Person
from assessor.work.access import NotAmongOwn
from assessor.work.models import Task
from assessor.work.saying import Gone
from assessor.work.scope import version_meant
from assessor.work.writes import BadWrite, Closed, Result, Stale, number, once, sent

Own = TypeVar("Own")
CarryOut = Callable[[PersonRequest, Own, int], Result]


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
                meant = version_meant(own.sheet, asked.seen)
                try:
                    result = carry_out(request, own, meant)
                except Stale:
                    own = own_sheet(request.user, task_id, sheet_id)
                    if version_meant(own.sheet, asked.seen) == meant:
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
    messages.success(request, "Signed off: your labels of this topic can be read, no longer changed.")
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
