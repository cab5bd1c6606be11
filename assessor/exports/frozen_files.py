"""The bytes of frozen files in the database, so that they are there as long as it is, and in its backups."""

import base64
import hashlib
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from django.conf import settings

from assessor.campaigns.models import Campaign
from assessor.exports.checksums import Damaged, Tally
from assessor.exports.models import Blob, Chunk

_CHUNK = 1 << 16  # bytes before they are compressed
_AT_A_TIME = 16  # chunks in a transaction: SQLite has one writer


class Spooled(NamedTuple):
    """The bytes of a file that is to be kept, and what is known of them."""

    file: IO[bytes]
    tally: Tally


@contextmanager
def spooled(lines: Iterator[str], heads: int, sign_of_life: Callable[[int], None]) -> Iterator[Spooled]:
    """Write lines to a file that is gone afterwards: nothing is written to a database that is being read."""
    tally = Tally(heads)
    with tempfile.TemporaryFile(dir=Path(settings.DATA_DIR) / "exports") as file:
        for line in lines:
            file.write(tally.add(line))
            sign_of_life(tally.records)
        yield Spooled(file, tally)


def keep(campaign: Campaign, spool: Spooled, sign_of_life: Callable[[int], None]) -> Blob:
    """Keep the bytes of a file.

    They are there as a whole only once all chunks are; a process that is killed before leaves chunks that the next one
    goes on with, as they are named by what they hold.
    """
    tally = spool.tally
    blob, _ = Blob.objects.get_or_create(
        campaign=campaign, sha256=tally.facts()["sha256"], defaults={"size": tally.size}
    )
    _store(blob, spool.file, sign_of_life)
    return blob


def _store(blob: Blob, spool: IO[bytes], sign_of_life: Callable[[int], None]) -> None:
    """Write the chunks that are not there yet, a few in a transaction."""
    there = set(blob.chunks.values_list("place", flat=True))
    spool.seek(0)
    chunks = enumerate(iter(lambda: spool.read(_CHUNK), b""))
    new = (_chunk(blob, place, data) for place, data in chunks if place not in there)
    while some := list(islice(new, _AT_A_TIME)):
        Chunk.objects.bulk_create(some, ignore_conflicts=True)
        sign_of_life(0)


def _chunk(blob: Blob, place: int, data: bytes) -> Chunk:
    return Chunk(blob=blob, place=place, data=base64.b64encode(zlib.compress(data)).decode())


def unpacked(data: str) -> bytes:
    """Return the bytes of a chunk, which may come from an archive: no more than one has. Raises Damaged."""
    unpacking = zlib.decompressobj()
    try:
        piece = unpacking.decompress(base64.b64decode(data, validate=True), _CHUNK + 1)
    except (zlib.error, ValueError) as error:
        raise Damaged(f"A part of what is kept can't be unpacked: {error}.") from error
    if len(piece) > _CHUNK or not unpacking.eof or unpacking.unused_data:
        raise Damaged(f"A part of what is kept is not zlib's, of at most {_CHUNK:,} bytes.")
    return piece


def pieces(blob: Blob) -> Iterator[bytes]:
    """Yield the bytes of a blob. Raises Damaged, at the end at the latest, where they are not those that were kept."""
    found = hashlib.sha256()
    for data in blob.chunks.order_by("place").values_list("data", flat=True).iterator(_AT_A_TIME):
        piece = unpacked(data)
        found.update(piece)
        yield piece
    if found.hexdigest() != blob.sha256:
        raise Damaged(f"What is kept of {blob.sha256} is not what was frozen.")


def text_lines(blob: Blob) -> Iterator[str]:
    """Yield the lines of a blob."""
    rest = b""
    for piece in pieces(blob):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.decode() + "\n"
    if rest:
        yield rest.decode()
