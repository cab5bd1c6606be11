"""Django tells columns apart by what they were made of, and looks that up by inspecting how they are made.

For an ordered query it does so for each column that is selected: a twentieth of the tests' time. Here two columns are
the same where alias, field and output field are, however the output field was given.
"""

from typing import Any

from django.db.models.expressions import Col
from django.utils.functional import cached_property


def identity(self: Col) -> tuple[Any, ...]:
    return (self.__class__, self.alias, self.target, self.output_field)


def compare_columns_cheaply() -> None:
    cheap = cached_property(identity)
    cheap.__set_name__(Col, "identity")
    Col.identity = cheap  # type: ignore[assignment]
