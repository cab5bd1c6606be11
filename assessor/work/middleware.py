"""Guidelines come before the first topic, and what is written on a page reaches the database that the page is of."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect

from assessor.campaigns.http import asks_for_page
from assessor.work.access import GuidelinesUnopened
from assessor.work.models import Installation
from assessor.work.write_protocol import ours


class GuidelinesFirst:
    """Who opens a topic without having opened the guidelines for it is led to them.

    Pages alone lead elsewhere: what a page's scripts ask for is refused, as a redirect would be read as its answer.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """Lead to the guidelines."""
        if isinstance(exception, GuidelinesUnopened) and asks_for_page(request):
            return redirect("task_guidelines", exception.task.pk)
        return None


class OwnInstallation:
    """What a page writes that was opened on another database is refused: its keys name other things here."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        told = request.headers.get("X-Assay-Installation")
        if told is None or told == str(Installation.present()):
            return self.get_response(request)
        why = "Assay's database was replaced since this page was opened, so this was not saved. Load the page again."
        headers = {"X-Assay-Replaced": "1"}
        return ours(HttpResponse(why, status=410, content_type="text/plain", headers=headers))
