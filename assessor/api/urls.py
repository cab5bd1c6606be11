from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, include, path
from django.views.decorators.http import require_GET

from assessor.api import views
from assessor.api.service import api

_ROOT = "api-root"  # by which the library finds out where it is


def _nothing(request: HttpRequest, rest: str = "") -> HttpResponseBase:
    return JsonResponse({"detail": "Not Found"}, status=404)


def _opened(pattern: URLPattern) -> URLPattern:
    """Let an address answer to GET alone, without a session: it asks for a token itself."""
    view = pattern.callback

    @wraps(view)
    def by_token(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return view(request, *args, **kwargs)  # type: ignore[no-any-return]

    pattern.callback = login_not_required(require_GET(by_token))
    return pattern


_patterns, _app, _namespace = api.urls
_own = [pattern for pattern in _patterns if isinstance(pattern, URLPattern) and pattern.name != _ROOT]
_v1 = [_opened(pattern) for pattern in (*_own, path("", _nothing, name=_ROOT), path("<path:rest>", _nothing))]

urlpatterns = [
    path("api/", views.description, name="api"),
    path("api/v1/", include((_v1, _app), namespace=_namespace)),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", views.revoke, name="revoke_token"),
]
