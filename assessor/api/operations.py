"""How an address of the API is written down, so that all of them are described alike."""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from http import HTTPStatus
from typing import Any, TypeVar, cast

from ninja import Router, Schema

from assessor.api.pagination import LINES, Page
from assessor.api.schemas import PROBLEM, WRONG_PARAMETERS
from assessor.runtime import replica

View = TypeVar("View", bound=Callable[..., Any])
# 414: of a request line that the web server does not take, gunicorn's being 4,094 bytes.
_Problems = Mapping[int, dict[str, Any] | None]
_PROBLEMS: _Problems = {401: PROBLEM, 403: PROBLEM, 404: PROBLEM, 414: None, 422: WRONG_PARAMETERS, 429: PROBLEM}
_PROBLEMS_OF_BODIES: _Problems = {400: PROBLEM, 411: PROBLEM, 413: PROBLEM}
# The file itself, and no form around it.
_BODY = {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}


def _described(problems: _Problems) -> dict[int, dict[str, Any]]:
    return {
        status: {"description": HTTPStatus(status).phrase}
        | ({"content": {"application/json": {"schema": schema}}} if schema else {})
        for status, schema in problems.items()
    }


_RESPONSES = _described(_PROBLEMS)


def one(router: Router, path: str, name: str, of: type[Schema], tag: str) -> Callable[[View], View]:
    """Answer at a path with one thing. name: its operation's, for ever."""
    return _get(router, path, name, of, tag, _RESPONSES)


def many(router: Router, path: str, name: str, of: type[Schema], tag: str) -> Callable[[View], View]:
    """Answer at a path with a list: a page of it, or all of it as JSON Lines."""
    lines = {"schema": {"$ref": f"#/components/schemas/{of.__name__}"}}
    return _get(router, path, name, Page[of], tag, _RESPONSES | {200: {"content": {LINES: lines}}})  # type: ignore[valid-type]


def send(router: Router, path: str, name: str, of: type[Schema], tag: str) -> Callable[[View], View]:
    """Take a file at a path, and answer with what will become of it."""
    extra = {"responses": _RESPONSES | _described(_PROBLEMS_OF_BODIES), "requestBody": _BODY}
    return router.post(path, response={202: of}, operation_id=name, url_name=name, tags=[tag], openapi_extra=extra)


def _get(
    router: Router, path: str, name: str, of: type[Schema], tag: str, responses: dict[int, Any]
) -> Callable[[View], View]:
    extra = {"responses": responses}  # beside what the library says of 200
    get = router.get(path, response={200: of}, operation_id=name, url_name=name, tags=[tag], openapi_extra=extra)

    def reading(view: View) -> View:
        return get(cast(View, wraps(view)(partial(replica.read, view))))

    return reading
