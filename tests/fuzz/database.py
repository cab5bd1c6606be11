"""What is in the database, told shortly enough to be held against what was in it before."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import Model

_WRITES = ("INSERT", "UPDATE", "DELETE", "COPY")


class Written:
    """The statements that changed something, while watched."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def models(self) -> list[type[Model]]:
        """Return the models whose tables were written to."""
        tables = {sql.split('"')[1] for sql in self.statements if '"' in sql}
        return [model for model in apps.get_models() if model._meta.db_table in tables]


@contextmanager
def watched() -> Iterator[Written]:
    """Note what statements write meanwhile."""
    written = Written()

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.lstrip().upper().startswith(_WRITES):
            written.statements.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield written


def fingerprint(*, without: tuple[str, ...] = ()) -> dict[str, str]:
    """Return a hash of all rows of each table, by the model's name."""
    models = [model for model in apps.get_models() if model._meta.label_lower not in without]
    return {model._meta.label_lower: _hash(model) for model in models}


def _hash(model: type[Model]) -> str:
    columns = ", ".join(connection.ops.quote_name(field.column) for field in model._meta.concrete_fields)
    table, key = (connection.ops.quote_name(name) for name in (model._meta.db_table, model._meta.pk.column))
    digest = hashlib.sha256()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns} FROM {table} ORDER BY {key}")
        for row in cursor:
            digest.update(repr(row).encode(errors="surrogatepass"))
    return digest.hexdigest()


# What JSON columns of labels may say, by model and column.
_SAID: dict[tuple[str, str], frozenset[Any]] = {
    ("assignment.answersheet", "labels"): frozenset({"support", "partial_support", "not_support"}),
    ("assignment.answersheet", "adopted"): frozenset({"support", "partial_support", "not_support"}),
    ("support.supportsheet", "labels"): frozenset({"full", "partial", "none", "not judged"}),
    ("support.supportsheet", "adopted"): frozenset({"full", "partial", "none", "not judged"}),
}
_GRADES = {("campaigns.grade", "grade"): range(-2, 5)}


def outside_vocabulary(models: list[type[Model]]) -> list[str]:
    """Return what of these models' rows is no word of its column's vocabulary: labels, grades, states, kinds."""
    wrong = []
    for model in models:
        name, rows = model._meta.label_lower, model._base_manager.order_by()
        for field in model._meta.concrete_fields:
            if field.choices:
                words = {value for value, _ in field.flatchoices} | {None} | ({""} if field.blank else set())
                found = set(rows.values_list(field.attname, flat=True).distinct())
            elif (name, field.name) in _SAID:
                words = set(_SAID[name, field.name])
                found = {label for said in rows.values_list(field.attname, flat=True) for label in said.values()}
            elif (name, field.name) in _GRADES:
                words = {None, *_GRADES[name, field.name]}
                found = set(rows.values_list(field.attname, flat=True).distinct())
            else:
                continue
            wrong += [f"{name}.{field.name}: {value!r}" for value in found - words]
    return wrong
