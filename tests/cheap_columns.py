"""What Django takes long for with each ordered query, done cheaply: a tenth of what tests of pages take.

It tells columns apart by what they were made of, and looks that up by inspecting how they are made. Here two columns
are the same where alias, field and output field are, however the output field was given.

It also numbers all columns that are selected, lest one be named twice. Where the order is by names of fields, only
columns with an alias could be meant, and most queries have none.
"""

from collections.abc import Callable, Iterator
from typing import Any

from django.db.models.expressions import Col
from django.db.models.sql.compiler import SQLCompiler
from django.utils.functional import cached_property

_in_order: Callable[[Any], Iterator[Any]] = SQLCompiler._order_by_pairs  # type: ignore[assignment]


def identity(self: Col) -> tuple[Any, ...]:
    return (self.__class__, self.alias, self.target, self.output_field)


def order_by_pairs(self: Any) -> list[Any]:
    query, select = self.query, self.select
    ordering = (*query.extra_order_by, *query.order_by, *getattr(query.get_meta(), "ordering", ()))
    is_by_names = not query.combinator and all(isinstance(one, str) for one in ordering)
    if is_by_names and not any(alias for _, _, alias in select or ()):
        self.select = None
    try:
        return list(_in_order(self))
    finally:
        self.select = select


def compare_columns_cheaply() -> None:
    cheap = cached_property(identity)
    cheap.__set_name__(Col, "identity")
    Col.identity = cheap  # type: ignore[assignment]
    SQLCompiler._order_by_pairs = order_by_pairs  # type: ignore[assignment, method-assign]
