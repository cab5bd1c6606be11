from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, include, path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET

from assessor.api import views


@login_not_required
@csrf_exempt  # so that other methods are told that they are not allowed; none of them does anything
@require_GET
def _read(request: HttpRequest, rest: str = "") -> HttpResponseBase:
    """Answer to GET alone, without a session: each address asks for a token itself.

    The API is imported when somebody asks for it: most processes are never asked, and it takes 14 MiB.
    """
    from assessor.api.service import addresses

    try:
        found = addresses.resolve(rest)
    except Resolver404:
        return JsonResponse({"detail": "Not Found"}, status=404)
    response: HttpResponseBase = found.func(request, *found.args, **found.kwargs)
    return response


_OPENAPI = "openapi.json"
_v1 = [
    path("", _read, name="api-root"),  # by which the library finds out where it is
    path(_OPENAPI, _read, {"rest": _OPENAPI}, name="openapi-json"),
    path("<path:rest>", _read),
]

urlpatterns = [
    path("api/", views.description, name="api"),
    path("api/v1/", include((_v1, "api"))),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", views.revoke, name="revoke_token"),
]
