"""What holds for every page."""

from collections.abc import Callable

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils import timezone
from django.utils.cache import add_never_cache_headers

from assessor.accounts.preferences import zone
from assessor.desk.views.errors import signed_out


class SignInRequired(LoginRequiredMiddleware):
    """Every page needs a signed-in person unless its view says otherwise."""

    def handle_no_permission(  # type: ignore[override]  # it may answer with a page, not with a redirect alone
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        # A redirect would answer a refused save with the sign-in page and 200.
        if request.method != "GET" or request.headers.get("HX-Request") or request.headers.get("X-Assay-Write"):
            return signed_out(request)
        return super().handle_no_permission(request, view_func)


class OwnZone:
    """Times on pages are in the person's zone. What is streamed is a file, written after this, in UTC."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with timezone.override(zone(getattr(request.user, "time_zone", ""))):
            return self.get_response(request)


class NothingIsCached:
    """No page stays in a cache: what a person may see can change, and two people may share a machine."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        add_never_cache_headers(response)
        return response


class PagesAreCompressed(GZipMiddleware):
    """Pages and parts of pages are sent compressed: the editor of a rich topic has half a megabyte of passages.

    Files are not, which are sent while they are written, nor the few bytes that answer a saved label. Whoever guesses
    at secrets by the length of what is sent (BREACH) finds the token of forms masked anew in each page, and each answer
    lengthened by chance.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_page = isinstance(response, HttpResponse) and response.headers.get("Content-Type", "").startswith(
            "text/html"
        )
        return super().process_response(request, response) if is_page else response
