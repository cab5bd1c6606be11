"""Lists: a page of them by the key of the last one, or all of them as JSON Lines."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from django.db.models import BigIntegerField, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from ninja import Field, Schema
from ninja.errors import ValidationError
from pydantic import StringConstraints, ValidationInfo, model_validator

from assessor.api.exposure import Seen
from assessor.formats.values import to_json
from assessor.runtime import replica

LINES = "application/jsonl"
MOST = 500  # items of a page
Key = tuple[Any, ...]
Json = dict[str, Any]
Item = TypeVar("Item")
# Ids and names: no database takes a NUL, and none of them has another control character in it.
Text = Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\x00-\x1f\x7f]+$")]
Id = Annotated[int, Field(ge=1, le=BigIntegerField.MAX_BIGINT)]
_AT_A_TIME = 500


class Parameters(Schema):
    """What may be asked besides; anything else is an error, so that no misspelt filter gives all there is."""

    @model_validator(mode="after")
    def knows_all(self, info: ValidationInfo) -> "Parameters":
        request = (info.context or {}).get("request")
        if request is not None and (unknown := sorted(request.GET.keys() - type(self).model_fields.keys())):
            raise ValueError(f"There is no such parameter: {', '.join(unknown)}.")
        return self


class Asked(Parameters):
    """What may be asked of any list. With JSON Lines all of it is sent, whatever limit and cursor say."""

    limit: int = Field(100, ge=1, le=MOST, description="The most items of a page.")
    cursor: str | None = Field(
        None, max_length=2_000, pattern=r"^[A-Za-z0-9_-]+$", description="The `next` of the page before."
    )


class Page(Schema, Generic[Item]):
    """A part of a list. next: the cursor of the page after it; null on the last one."""

    items: list[Item]
    next: str | None


class Listing(NamedTuple):
    """A list: what it has after a key, or from the start, in the order of the keys. key: of what types its parts are.

    `after` also takes how many are asked for; it may give more.
    """

    after: Callable[[Key | None, int | None], Iterator[tuple[Key, Json]]]
    key: tuple[type, ...]


def of_records(records: QuerySet[Any], told: Callable[[Any], Json]) -> Listing:
    """Return records as a list, in the order in which they were made."""

    def after(key: Key | None, most: int | None) -> Iterator[tuple[Key, Json]]:
        some = records.order_by("pk")
        if key is not None:
            some = some.filter(pk__gt=key[0])
        return (((record.pk,), told(record)) for record in some[:most].iterator(_AT_A_TIME))

    return Listing(after, (int,))


def of_rows(rows: Iterable[tuple[Key, Json]], key: tuple[type, ...]) -> Listing:
    """Return rows that are in the order of their keys as a list."""
    return Listing(lambda last, most: ((at, item) for at, item in rows if last is None or at > last), key)


def answer(request: HttpRequest, asked: Asked, listing: Listing, seen: Seen | None = None) -> HttpResponseBase:
    """Return a page of a list, or all of it where JSON Lines are asked for, which need no memory for it.

    seen: is told of what is sent, before it is; of JSON Lines all at once, as SQLite refuses to write beside a query
    that is open while others save.
    """
    if LINES in map(str, request.accepted_types):
        if seen:
            seen.all()
        return StreamingHttpResponse(replica.read_on(_lines(listing)), content_type=LINES)
    most = asked.limit + 1
    found = list(islice(listing.after(_key(asked.cursor, listing.key), most), most))
    page = found[: asked.limit]
    items = [item for _, item in page]
    if seen:
        seen.of(page)
    return as_json({"items": items, "next": _cursor(page[-1][0]) if len(found) > asked.limit else None})


def _lines(listing: Listing) -> Iterator[str]:
    for _, item in listing.after(None, None):
        yield to_json(item) + "\n"


def as_json(told: Any) -> HttpResponse:
    """Return something as it is: no NaN is among it."""
    return HttpResponse(to_json(told), content_type="application/json; charset=utf-8")


def wrong(where: str, what: str) -> ValidationError:
    """Return the error of a parameter that asks for what isn't there."""
    return ValidationError([{"loc": ["query", where], "msg": what}])


def _cursor(key: Key) -> str:
    return urlsafe_b64encode(to_json(list(key)).encode()).decode().rstrip("=")


def _key(cursor: str | None, types: tuple[type, ...]) -> Key | None:
    if cursor is None:
        return None
    try:
        told = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, list) or [type(part) for part in told] != list(types) or not all(map(_is_sane, told)):
        raise wrong("cursor", "It is no cursor of this list.")
    return tuple(told)


def _is_sane(part: str | int) -> bool:
    """Say whether a database can be asked for it."""
    if isinstance(part, int):
        return abs(part) <= BigIntegerField.MAX_BIGINT
    return "\x00" not in part and part == part.encode(errors="ignore").decode()
