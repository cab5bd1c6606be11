"""Restoring a campaign from its archive, all of it or nothing."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.db import DatabaseError, connection, models, transaction
from django.db.models import Model

from assessor.accounts.models import Person
from assessor.archive import comparison_states
from assessor.archive.errors import ArchiveError
from assessor.archive.reader import Archive
from assessor.archive.registry import OF_CAMPAIGN, RESTORED, SHARED, Kept
from assessor.archive.shared_records import find_or_make, require_new_people
from assessor.campaigns import history
from assessor.campaigns.models import Campaign
from assessor.runtime.analyze import look_at_grown_tables
from assessor.runtime.sql import KeysTaken, insert, reserve_keys
from metaeval.models import Calculation

Values = dict[str, Any]
_AT_A_TIME, _BYTES_AT_A_TIME = 500, 2_000_000
_PLAIN = (models.ForeignKey, models.IntegerField, models.BooleanField, models.CharField)


def restore(
    path: Path, *, use_existing_people: bool = False, while_others_wait: bool = False, acting_user: Person | None = None
) -> Campaign:
    """Check an archive and make its campaign again, in one transaction: all of it is there, or nothing.

    use_existing_people: people of the same name are taken for the same, and stay as they are. while_others_wait: on
    SQLite nobody else can save meanwhile, so where there are other campaigns that must be said. Raises ArchiveError.
    """
    with Archive(path) as archive:
        archive.verify()
        if connection.vendor == "sqlite" and not while_others_wait and Campaign.objects.exists():
            raise ArchiveError(
                "This SQLite database has other campaigns, and nobody can save in them while this one is restored: "
                "do it while nobody works, and say so."
            )
        try:
            with transaction.atomic():
                campaign = _restore(archive, use_existing_people)
                history.record(RESTORED, campaign, campaign=campaign, person=acting_user)
        except DatabaseError as error:
            raise ArchiveError(f"The database refuses the archive, nothing was restored: {error}".strip()) from error
    look_at_grown_tables()
    return campaign


def _restore(archive: Archive, use_existing_people: bool) -> Campaign:
    if Campaign.objects.filter(slug=archive.slug).exists():
        raise ArchiveError(f"There is a campaign {archive.slug} already.")
    # A record's key is that of the first of its model, and its number: no table of keys is needed.
    try:
        before = {kept.model: reserve_keys(kept.model, archive.counts.get(kept.model, 0)) for kept in OF_CAMPAIGN}
    except KeysTaken as error:
        raise ArchiveError(f"{error} Restore it when fewer work.") from error
    found: dict[type[Model], list[int]] = {kept.model: [] for kept in SHARED}

    def translate(model: type[Model], number: int) -> int:
        return found[model][number - 1] if model in found else before[model] + number

    keys = archive.keys(translate)
    for kept in SHARED:
        records = [values for values, _ in archive.records(kept, keys)]
        if kept.model is Person and not use_existing_people:
            require_new_people([values["username"] for values in records])
        found[kept.model] = [find_or_make(kept.model, values) for values in records]
    for kept in OF_CAMPAIGN:
        key = before[kept.model]
        for some in _batches(archive.records(kept, keys)):
            _write(kept, [(key + at, values) for at, values in enumerate(some, 1)])
            key += len(some)
    first, number = before[Calculation], archive.counts.get(Calculation, 0)
    comparison_states.name_again(Calculation.objects.filter(pk__gt=first, pk__lte=first + number))
    return Campaign.objects.get(pk=before[Campaign] + 1)


def _batches(records: Iterable[tuple[Values, int]]) -> Iterator[list[Values]]:
    """Yield records, as many at a time as are neither many nor long."""
    batch: list[Values] = []
    held = 0
    for values, length in records:
        batch.append(values)
        held += length
        if len(batch) == _AT_A_TIME or held > _BYTES_AT_A_TIME:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _write(kept: Kept, records: list[tuple[int, Values]]) -> None:
    columns = [column for column in kept.model._meta.concrete_fields if not column.primary_key]
    names = [column.attname for column in columns]
    # In order the columns whose values are not kept as they were read. Most of a track's are: each step counts.
    prepared = [(place, column) for place, column in enumerate(columns, 1) if not isinstance(column, _PLAIN)]
    rows = []
    for key, values in records:
        if len(values) < len(names):
            values = {column.attname: column.get_default() for column in columns} | values
        row = [key, *map(values.__getitem__, names)]
        for place, column in prepared:
            if row[place] is not None:
                row[place] = column.get_db_prep_save(row[place], connection)
        rows.append(tuple(row))
    insert(kept.model, [kept.model._meta.pk.name, *(column.name for column in columns)], rows)
