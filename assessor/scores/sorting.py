"""Tables that are sorted by what the address says."""

from collections.abc import Collection
from typing import NamedTuple

from django.http import Http404, QueryDict

from assessor.scores.page_tables import Column, Listing


class Head(NamedTuple):
    """The head of a column. address: of the page sorted by it; order: how it is sorted by it now, if it is."""

    column: Column
    address: str
    order: str


class Shown(NamedTuple):
    """A table on a page."""

    heads: list[Head]
    listing: Listing


def shown(asked: QueryDict, listing: Listing, usual: str, others: Collection[str] = ()) -> Shown:
    """Return a table sorted as the address says, or else as is usual. Raises Http404 for a column that is not there.

    others: names of columns that tables beside it have; sorted by one of these, it stays as is usual.
    """
    key = asked.get("sort", usual)
    name = key.removeprefix("-")
    if name in others and name not in {column.key for column in listing.columns}:
        key = usual
    try:
        listing = listing.sorted_by(key)
    except LookupError as error:
        raise Http404("There is no such column.") from error
    return Shown([_head(asked, column, key) for column in listing.columns], listing)


def _head(asked: QueryDict, column: Column, key: str) -> Head:
    """Return the head of a column; its address turns the order round, or begins with the best of a number's."""
    orders = {column.key: "ascending", f"-{column.key}": "descending"}
    first, second = reversed(orders) if column.is_number else orders
    address = asked.copy()
    address["sort"] = second if key == first else first
    return Head(column, f"?{address.urlencode()}", orders.get(key, ""))
