from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, include, path, re_path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods

from assessor.api import views


@login_not_required
@csrf_exempt  # no cookie lets anybody in
@require_http_methods(["GET", "POST"])
def _answer(request: HttpRequest, rest: str = "") -> HttpResponseBase:
    """Answer without a session: each address asks for a token itself, and says which methods it has.

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
    path("", _answer, name="api-root"),  # by which the library finds out where it is
    path(_OPENAPI, require_GET(_answer), {"rest": _OPENAPI}, name="openapi-json"),
    re_path(r"(?P<rest>[\s\S]+)", _answer),  # also with the end of a line in it, which is no page to be told of
]

urlpatterns = [
    path("api/", views.description, name="api"),
    path("api/v1/", include((_v1, "api"))),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", views.revoke, name="revoke_token"),
]
