"""What holds for every page."""

from collections.abc import Callable

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers


class SignInRequired(LoginRequiredMiddleware):
    """Every page needs a signed-in person unless its view says otherwise."""

    def handle_no_permission(  # type: ignore[override]  # it may answer with a page, not with a redirect alone
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        # A redirect would answer a refused save with the sign-in page and 200.
        if request.method != "GET" or request.headers.get("HX-Request") or request.headers.get("X-Assay-Write"):
            return render(request, "401.html", status=401)
        return super().handle_no_permission(request, view_func)


class NothingIsCached:
    """No page stays in a cache: what a person may see can change, and two people may share a machine."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        add_never_cache_headers(response)
        return response
