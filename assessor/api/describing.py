"""How an address of the API is written down, so that all of them are described alike."""

from collections.abc import Callable
from typing import Any, TypeVar

from ninja import Router, Schema

from assessor.api.paging import LINES, Page
from assessor.api.schemas import Problem, WrongParameters

View = TypeVar("View", bound=Callable[..., Any])
# 414: of a request line that the web server does not take, gunicorn's being 4,094 bytes.
_PROBLEMS = {401: Problem, 404: Problem, 414: None, 422: WrongParameters, 429: Problem}


def one(router: Router, path: str, name: str, of: type[Schema], tag: str) -> Callable[[View], View]:
    """Answer at a path with one thing. name: its operation's, for ever."""
    return router.get(path, response={200: of, **_PROBLEMS}, operation_id=name, url_name=name, tags=[tag])


def many(router: Router, path: str, name: str, of: type[Schema], tag: str) -> Callable[[View], View]:
    """Answer at a path with a list: a page of it, or all of it as JSON Lines."""
    lines = {"schema": {"$ref": f"#/components/schemas/{of.__name__}"}}
    return router.get(
        path,
        response={200: Page[of], **_PROBLEMS},  # type: ignore[valid-type]
        operation_id=name,
        url_name=name,
        tags=[tag],
        openapi_extra={"responses": {200: {"content": {LINES: lines}}}},
    )
