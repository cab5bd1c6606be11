"""Pages for what went wrong: each says what happened, what was kept and what to do."""

import errno
import sys
from contextlib import suppress

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from assessor.accounts.languages import in_own_language_unless_organizer
from assessor.runtime.connections import AWAY
from assessor.work.write_protocol import ours


@in_own_language_unless_organizer
def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "400.html", status=400)


@in_own_language_unless_organizer
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "404.html", status=404)


@in_own_language_unless_organizer
def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The reason is shown only where our own code gave one."""
    return ours(render(request, "403.html", {"reason": str(exception or "")}, status=403))


@in_own_language_unless_organizer
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    response = render(request, "403_csrf.html", status=403)
    response["X-Assay-CSRF"] = "failed"  # by this the outbox tells a lost cookie from a lost right
    return response


@in_own_language_unless_organizer
def signed_out(request: HttpRequest) -> HttpResponse:
    return render(request, "401.html", status=401)


def server_error(request: HttpRequest) -> HttpResponse:
    """What broke: the database or the disk, which somebody will bring back, or a mistake of ours."""
    error = sys.exc_info()[1]
    _remove_uploads(request)
    is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if isinstance(error, AWAY) or is_full:
        # Without the request: what every page's frame asks for is in the database.
        return HttpResponse(render_to_string("503.html"), status=503, headers={"Retry-After": "5"})
    return HttpResponse(render_to_string("500.html"), status=500)


def _remove_uploads(request: HttpRequest) -> None:
    """Remove what had come of an upload: Django leaves it until its memory is swept, on a disk that may be full."""
    for handler in request.upload_handlers:
        if file := getattr(handler, "file", None):
            with suppress(OSError):  # what is left to be written finds no room
                file.close()
