"""Writing a campaign as an archive, of one state of the database, whoever works meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

from assessor.archive import states
from assessor.archive.container import Writer
from assessor.archive.errors import ArchiveError
from assessor.archive.numbers import Elsewhere, Numbers
from assessor.archive.registry import KEPT, SHARED, Kept, rows
from assessor.archive.values import written
from assessor.collection.formats.values import to_json
from assessor.collection.models import Campaign, Person
from assessor.collection.roles import ASSESSOR, ORGANIZER
from metaeval.models import Calculation

FORMAT, VERSION = "assay-archive", 3
ROLES = (ASSESSOR, ORGANIZER)  # whose restoring gives nobody power over an installation
_AT_A_TIME = 500


def archive(campaign: Campaign) -> Iterator[bytes]:
    """Yield a campaign's archive. The same campaign gives the same bytes, in whatever database it is."""
    with _snapshot():
        numbers, writer = Numbers(campaign), Writer()
        for kept in KEPT:
            names = [column.name for column in kept.fields] + (["roles"] if kept.model is Person else [])
            yield from writer.add(f"{kept.label}.jsonl", names, _lines(kept, campaign, numbers))
        head = {"format": FORMAT, "version": VERSION, "campaign": campaign.slug, "name": campaign.name}
        yield from writer.end(head)


@contextmanager
def _snapshot() -> Iterator[None]:
    """Read one state of the database throughout, and let others write: a transaction that only reads."""
    if connection.in_atomic_block:
        yield  # the caller's transaction
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:
        with connection.cursor() as cursor:
            # transaction.atomic() would take SQLite's only write lock.
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


def _lines(kept: Kept, campaign: Campaign, numbers: Numbers) -> Iterator[str]:
    for key, record in _records(kept, campaign, numbers):
        if kept.model is Calculation:
            states.forget(record)
        try:
            row = _row(kept, record, numbers)
        except Elsewhere as error:
            raise ArchiveError(f"{kept.label} {key}: {error}.") from error
        if kept.remembered:
            numbers.remember(kept.model, row[kept.remembered])
        yield to_json(row)


def _records(kept: Kept, campaign: Campaign, numbers: Numbers) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the key and the columns of each record, in the order that gives it its number."""
    columns = [column.attname for column in kept.fields]
    if kept in SHARED:
        for record in numbers.shared[kept.model]:
            values = {name: getattr(record, name) for name in columns}
            if kept.model is Person:
                values["roles"] = sorted(record.role_names & set(ROLES))
            yield record.pk, values
        return
    found = rows(kept, campaign).order_by("pk").values_list("pk", *columns)
    for key, *row in found.iterator(chunk_size=_AT_A_TIME):
        yield key, dict(zip(columns, row, strict=True))


def _row(kept: Kept, record: dict[str, Any], numbers: Numbers) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column in kept.fields:
        value = record[column.attname]
        if column.is_relation:
            value = None if value is None else numbers.of(column.related_model, value)
        elif column.name in kept.instead:
            value = kept.instead[column.name].get(value, value)
        row[column.name] = written(value)
    numbers.row = row
    for name, replace in kept.keys.items():
        row[name] = replace(row[name], numbers)
    return row | {name: value for name, value in record.items() if name == "roles"}
