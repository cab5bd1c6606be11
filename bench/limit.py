"""The least that a round can take: two views that do nothing, behind Assay's middleware; the second commits a row.

Served in the place of assessor.wsgi, under the addresses of a labelling screen, so that bench.people works on both.
"""

from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import include, path
from django.views.decorators.csrf import ensure_csrf_cookie

TABLE = "bench_limit"


@ensure_csrf_cookie
def screen(request: HttpRequest, task: int) -> HttpResponse:
    return HttpResponse()


def answer(request: HttpRequest, task: int, sheet: int) -> HttpResponse:
    return HttpResponse()


def write(request: HttpRequest, task: int, sheet: int, action: str) -> HttpResponse:
    version = int(request.POST["version"]) + 1
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {TABLE} VALUES (%s, %s, %s)", [sheet, version, request.POST.get("label", "")])
    return JsonResponse({"version": version})


urlpatterns = [
    path("limit/<int:task>/", screen),
    path("limit/<int:task>/answers/<int:sheet>/", answer),
    path("limit/<int:task>/answers/<int:sheet>/<str:action>/", write),
]


def application() -> Any:
    """Return the WSGI application, with a table of its own for the rows."""
    from assessor import wsgi
    from assessor.runtime.connections import leave_connections

    urlpatterns.append(path("", include("assessor.urls")))
    settings.ROOT_URLCONF = __name__
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE IF NOT EXISTS {TABLE} (sheet bigint, version bigint, label varchar(50))")
    leave_connections()  # the server forks
    return wsgi.application
