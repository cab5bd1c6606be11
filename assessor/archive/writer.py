"""Writing a campaign as an archive, of one state of the database, whoever works meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from assessor.archive import comparison_states
from assessor.archive.container import Writer
from assessor.archive.errors import ArchiveError
from assessor.archive.record_numbers import Elsewhere, Numbers
from assessor.archive.registry import KEPT, OF_CAMPAIGN, SHARED, Kept, rows
from assessor.archive.values import written
from assessor.campaigns.models import Campaign
from assessor.formats.values import to_json
from metaeval.models import Calculation

FORMAT, VERSION = "assay-archive", 7
_AT_A_TIME = 500


class CampaignArchive:
    """The bytes of a campaign's archive; the same campaign gives the same bytes, in whatever database it is.

    Once they are all read, records and manifest say what is in it. sign_of_life: is told how many records are written.
    """

    def __init__(self, campaign: Campaign, sign_of_life: Callable[[int], None] = lambda records: None) -> None:
        self._campaign, self._alive = campaign, sign_of_life
        self.records, self.manifest = 0, ""

    def __iter__(self) -> Iterator[bytes]:
        campaign = self._campaign
        with _snapshot():
            numbers, writer = Numbers(campaign), Writer()
            for kept in KEPT:
                names = [column.name for column in kept.fields]
                lines = self._counted(_lines(kept, campaign, numbers))
                yield from writer.add(f"{kept.label}.jsonl", names, lines)
            head = {"format": FORMAT, "version": VERSION, "campaign": campaign.slug, "name": campaign.name}
            yield from writer.end(head)
        self.manifest = writer.manifest

    def _counted(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            yield line
            self.records += 1
            self._alive(self.records)


def expected_records(campaign: Campaign) -> int:
    """Return how many records of a campaign there are, without the few that it shares with others."""
    return sum(rows(kept, campaign).order_by().count() for kept in OF_CAMPAIGN)


@contextmanager
def _snapshot() -> Iterator[None]:
    """Read one state of the database throughout, and let others write: a transaction that only reads.

    Not transaction.atomic(), which would take SQLite's only write lock, and have progress written in this transaction.
    """
    if connection.in_atomic_block:
        yield  # the caller's transaction
        return
    begin = "BEGIN DEFERRED" if connection.vendor == "sqlite" else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    with connection.cursor() as cursor:
        cursor.execute(begin)
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def _lines(kept: Kept, campaign: Campaign, numbers: Numbers) -> Iterator[str]:
    for key, record in _records(kept, campaign, numbers):
        if kept.model is Calculation:
            comparison_states.forget(record)
        try:
            row = _row(kept, record, numbers)
        except Elsewhere as error:
            raise ArchiveError(f"{kept.label} {key}: {error}.") from error
        yield to_json(row)


def _records(kept: Kept, campaign: Campaign, numbers: Numbers) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the key and the columns of each record, in the order that gives it its number."""
    columns = [column.attname for column in kept.fields]
    if kept in SHARED:
        for record in numbers.shared[kept.model]:
            yield record.pk, {name: getattr(record, name) for name in columns}
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
    return row
