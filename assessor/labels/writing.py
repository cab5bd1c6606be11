"""Writing rows of labels, in statements that are written out: putting them together takes longer than asking them."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models

from assessor.collection.loaders.base import as_kept, insert

# What stands of an item, and where its label comes from, which changes with the label alone.
STANDING = ("value", "resolved_value", "state", "reason", "flag", "raw", "marks")
ORIGIN = ("job", "seconds", "guidelines_version", "at")


def insert_labels(model: type[models.Model], keys: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Add first labels: of each what names its item, by these fields, then value, state and raw as text."""
    insert(model, (*keys, "value", "state", "raw"), rows)


def save_labels(labels: Sequence[Any], keys: Sequence[str], *, given: bool) -> None:
    """Save labels of one model, new ones and others. given: whether the labels themselves were given or taken back."""
    if not labels:
        return
    model = type(labels[0])
    fields = (*STANDING, *ORIGIN) if given else STANDING
    new = [label for label in labels if label.pk is None]
    known = [label for label in labels if label.pk is not None]
    if new:
        every = (*keys, *STANDING, *ORIGIN)
        insert(model, every, [_values(label, every) for label in new])
    if known:
        table = connection.ops.quote_name(model._meta.db_table)
        columns = [model._meta.get_field(name).column for name in fields]
        sql = f"UPDATE {table} SET {', '.join(f'{column} = %s' for column in columns)} WHERE id = %s"  # noqa: S608  # ours
        with connection.cursor() as cursor:
            cursor.executemany(sql, [(*_values(label, fields), label.pk) for label in known])


def _values(label: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """Return columns as the database keeps them."""
    return tuple(as_kept(type(label), name, getattr(label, label._meta.get_field(name).attname)) for name in names)
