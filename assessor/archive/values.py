"""Values of columns as archives have them: the same text whichever database they come from."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from math import isfinite
from typing import Any
from uuid import UUID

from django.db import models
from django.db.backends.base.operations import BaseDatabaseOperations

from assessor.runtime.fields import JSONText

_TIME = "a time as 2026-01-31T12:00:00.000000+00:00"


class Unfit(ValueError):
    """A value does not fit its column; the text says what is expected."""


def written(value: Any) -> Any:
    """Return a column's value as JSON has it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value


def reader(column: "models.Field[Any, Any]") -> Callable[[Any], Any]:
    """Return what reads a value as its column wants it, foreign keys aside; it raises Unfit."""

    def read(value: Any) -> Any:
        if value is not None:
            return read_value(column, value)
        if not column.null:
            raise Unfit("a value")
        return None

    read_value = _reader(column)
    return read


def _reader(column: "models.Field[Any, Any]") -> Callable[[Any, Any], Any]:
    """Return what reads a column's values. Raises Unfit for a column of a kind that archives don't know."""
    readers: dict[type, Callable[[Any, Any], Any]] = {
        JSONText: lambda column, value: value,
        models.BooleanField: lambda column, value: _typed(value, bool, "true or false"),
        models.IntegerField: _whole,
        models.FloatField: lambda column, value: _finite(_typed(value, float, "a number with a point")),
        models.DateTimeField: lambda column, value: _time(_typed(value, str, _TIME)),
        models.UUIDField: lambda column, value: as_uuid(value),
        models.DecimalField: lambda column, value: _decimal(column, _typed(value, str, "a decimal number, as text")),
        models.CharField: lambda column, value: _text(column, _typed(value, str, "text")),
        models.TextField: lambda column, value: _text(column, _typed(value, str, "text")),
    }
    for kind, reader in readers.items():
        if isinstance(column, kind):
            return reader
    raise Unfit(f"a column of a kind that archives know, not {type(column).__name__}")


def _typed(value: Any, kind: type, expected: str) -> Any:
    if type(value) is not kind:
        raise Unfit(expected)
    return value


def _whole(column: "models.Field[Any, Any]", value: Any) -> int:
    least, most = BaseDatabaseOperations.integer_field_ranges[column.get_internal_type()]
    if type(value) is not int or not least <= value <= most:
        raise Unfit(f"a whole number from {least} to {most}")
    _check_choice(column, value)
    return value


def _finite(number: float) -> float:
    if not isfinite(number):
        raise Unfit("a number that is not infinite")
    return number


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
        if written(time) == text:
            return time
    except (ValueError, OverflowError):
        pass
    raise Unfit(_TIME)


def as_uuid(value: Any, expected: str = "a UUID") -> UUID:
    """Return a UUID that is spelt as archives are. Raises Unfit."""
    try:
        if str(UUID(value)) == value:
            return UUID(value)
    except (ValueError, TypeError, AttributeError):
        pass
    raise Unfit(expected)


def _decimal(column: "models.DecimalField[Any, Any]", text: str) -> Decimal:
    assert column.decimal_places is not None
    assert column.max_digits is not None
    expected = f"a number with {column.decimal_places} decimal places"
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise Unfit(expected) from None
    whole_digits = column.max_digits - column.decimal_places
    if not number.is_finite() or f"{number:.{column.decimal_places}f}" != text or abs(number) >= 10**whole_digits:
        raise Unfit(expected)
    return number


def _text(column: "models.Field[Any, Any]", text: str) -> str:
    if "\x00" in text:
        raise Unfit("text without NUL characters")
    if column.max_length is not None and len(text) > column.max_length:
        raise Unfit(f"at most {column.max_length} characters")
    if text or not column.blank:
        _check_choice(column, text)
    return text


def _check_choice(column: "models.Field[Any, Any]", value: object) -> None:
    choices = _choices(column)
    if choices and value not in choices:
        raise Unfit(f"one of {', '.join(map(str, choices))}")


@cache
def _choices(column: "models.Field[Any, Any]") -> dict[Any, None]:
    """Return what a column may have, in its order; nothing where that is not listed."""
    return {choice: None for choice, _ in column.flatchoices}
