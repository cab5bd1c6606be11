"""Requests and downloads, as views see them."""

import re
from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django_htmx.middleware import HtmxDetails

from assessor.accounts.models import Person

TEXT, JSON, ZIP = "text/plain; charset=utf-8", "application/json", "application/zip"
# What a form says that wants a file.
NO_FILE = "No file came with the form. Choose one and send it again."


class PersonRequest(HttpRequest):
    """A request behind the sign-in: its user is a person."""

    user: Person
    htmx: HtmxDetails


def asks_for_page(request: HttpRequest) -> bool:
    """Say whether somebody opens a page, and no script asks: a redirect would be read as the answer to it."""
    navigates = request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate" and "HX-Request" not in request.headers
    return navigates and request.method in ("GET", "HEAD")


def attachment(name: str) -> str:
    """Return the header by which a browser keeps a file under a name, of which odd characters become underscores."""
    return f'attachment; filename="{re.sub(r"[^A-Za-z0-9._+-]", "_", name)}"'


def download(
    name: str, content: str | Iterable[str | bytes], content_type: str = TEXT
) -> HttpResponse | StreamingHttpResponse:
    """Return what a browser keeps under a name: a text as a whole, lines or pieces as a stream."""
    response: HttpResponse | StreamingHttpResponse
    if isinstance(content, str):
        response = HttpResponse(content, content_type=content_type)
    else:
        response = StreamingHttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = attachment(name)
    return response
