"""Lists of records: filtered, sorted and cut into pages by what the address says."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator
from django.http import Http404, QueryDict

ON_A_PAGE = 50


class Column(NamedTuple):
    """A column of a list. value: by which its rows are sorted, None where undefined; no value: it can't be sorted."""

    key: str
    label: str
    value: Callable[[Any], Any] | None = None
    is_number: bool = False


class Head(NamedTuple):
    """The head of a column. key: of the order that its link asks for, if any; order: how the list is sorted by it."""

    column: Column
    key: str
    order: str


class Choice(NamedTuple):
    """One of several views of a list, with how many rows it has; None where nobody has counted."""

    key: str
    label: str
    number: int | None = None


class Listing(NamedTuple):
    """A list as a page has it."""

    heads: Sequence[Head]
    page: Page[Any]
    choices: Sequence[Choice]
    show: str
    q: str


def listing(
    asked: QueryDict, rows: Sequence[Any], columns: Sequence[Column], choices: Sequence[Choice], show: str
) -> Listing:
    """Return rows that are filtered already as a page has them. Raises Http404 for a column that is not there."""
    key = asked.get("sort", columns[0].key)
    by = {column.key: column.value for column in columns}.get(key.removeprefix("-"))
    if by is None:
        raise Http404("There is no such column to sort by.")
    defined = [row for row in rows if by(row) is not None]
    undefined = [row for row in rows if by(row) is None]
    in_order = sorted(defined, key=by, reverse=key.startswith("-")) + undefined
    heads = [_head(column, key) for column in columns]
    return Listing(heads, paged(asked, in_order), choices, show, query_of(asked))


def paged(
    asked: QueryDict, rows: Any, on_a_page: int = ON_A_PAGE, by: str = "page", total: int | None = None
) -> Page[Any]:
    """Return the page that the address names, by this key; of a number that is none the nearest.

    total: how many rows there are, where that is known: to count a track's passages takes longer than all else.
    """
    paginator = Paginator(rows, on_a_page)
    if total is not None:
        paginator.count = total
    return paginator.get_page(asked.get(by))


def chosen(asked: QueryDict, choices: Sequence[Choice]) -> str:
    """Return which of the views the address names; the first without one. Raises Http404 for another."""
    show = asked.get("show", choices[0].key)
    if show not in {choice.key for choice in choices}:
        raise Http404("There is no such view of the list.")
    return show


def query_of(asked: QueryDict) -> str:
    """Return what is looked for, without what no text can have."""
    return " ".join(asked.get("q", "").replace("\x00", "").split())


def holds(q: str, *texts: str) -> bool:
    """Say whether one of the texts has what is looked for, whatever its case."""
    return any(q.casefold() in text.casefold() for text in texts)


def _head(column: Column, key: str) -> Head:
    ascending, descending = column.key, f"-{column.key}"
    first, second = (descending, ascending) if column.is_number else (ascending, descending)
    orders = {ascending: "ascending", descending: "descending"}
    asks_for = second if key == first else first
    return Head(column, asks_for if column.value else "", orders.get(key, ""))
