"""Requests and downloads, as views see them."""

import re
from collections.abc import Iterator

from django.http import HttpRequest, StreamingHttpResponse
from django_htmx.middleware import HtmxDetails

from assessor.collection.models import Person


class PersonRequest(HttpRequest):
    """A request behind the sign-in: its user is a person."""

    user: Person
    htmx: HtmxDetails


def download(name: str, lines: Iterator[str]) -> StreamingHttpResponse:
    """Return lines as a text file that streams; of its name, odd characters become underscores."""
    response = StreamingHttpResponse(lines, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{re.sub(r"[^A-Za-z0-9._+-]", "_", name)}"'
    return response
