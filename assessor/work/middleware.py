"""Guidelines come before the first topic."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from assessor.collection.http import asks_for_page
from assessor.work.access import GuidelinesUnopened


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
