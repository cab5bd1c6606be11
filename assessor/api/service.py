"""The API itself: what it is called, who may ask, and what errors look like."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver
from django.urls.resolvers import RegexPattern
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, Throttled, ValidationError
from ninja.openapi.schema import OpenAPISchema

from assessor.api.authentication import Bearer
from assessor.api.models import Token
from assessor.api.routes import campaigns, imports, labels, progress, scores, texts
from assessor.api.schemas import ERRORS


class _Api(NinjaAPI):
    def get_openapi_schema(self, **how: Any) -> OpenAPISchema:
        """Return the description, with the errors: each is there once, so that clients have one class for it."""
        schema = super().get_openapi_schema(**how)
        schema["components"]["schemas"] |= ERRORS
        return schema


api = _Api(
    title="Assay",
    version="1",
    description="Topics, runs, labels, scores and progress of a campaign for its organizers' scripts, and files in.",
    auth=Bearer(Token.May.READ),
    docs_url=None,  # it would load from another host
    urls_namespace="api",
)
for routes in (campaigns, texts, labels, scores, progress, imports):
    api.add_router("", routes.router)


@api.exception_handler(AuthenticationError)
def _no_token(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    told = {"detail": "This needs a token that is good: Authorization: Bearer ..."}
    response = api.create_response(request, told, status=401)
    response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(Throttled)
def _too_many(request: HttpRequest, error: Throttled) -> HttpResponse:
    response = api.create_response(request, {"detail": error.message}, status=429)
    response["Retry-After"] = str(error.wait)
    return response


@api.exception_handler(ValidationError)
def _wrong(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Say what is wrong without the value: it may be anything, and of any length."""
    told = [{"loc": list(one["loc"]), "msg": one["msg"]} for one in error.errors]
    return api.create_response(request, {"detail": told}, status=422)


# Without the library's own root, at which nothing is.
_patterns = [one for one in api.urls[0] if isinstance(one, URLPattern) and one.name != "api-root"]
addresses = URLResolver(RegexPattern("^"), _patterns)
