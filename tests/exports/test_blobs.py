"""What is kept may come from an archive, and so from anybody: nothing of it is unpacked without end."""

import base64
import tracemalloc
import zlib

import pytest

from assessor.campaigns.models import Campaign
from assessor.exports.checksums import Damaged
from assessor.exports.frozen_files import keep, pieces, spooled
from assessor.exports.models import Blob, Chunk


def packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


@pytest.mark.parametrize(
    "data",
    [
        packed(bytes(10 << 20)),
        packed(bytes((1 << 16) + 1)),
        packed(b"some")[:-8],
        base64.b64encode(zlib.compress(b"some") + b"more").decode(),
        base64.b64encode(b"not packed").decode(),
        "no base64",
        "\u00e9",
        "",
    ],
)
def test_what_nobody_here_packed_is_damaged(campaign: Campaign, data: str):
    blob = Blob.objects.create(campaign=campaign, sha256="0" * 64, size=4)
    Chunk.objects.create(blob=blob, place=0, data=data)
    tracemalloc.start()
    try:
        with pytest.raises(Damaged):
            list(pieces(blob))
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()


def test_what_was_packed_here_is_unpacked(campaign: Campaign):
    text = "x" * ((1 << 16) + 1)
    with spooled(iter([text]), 0, lambda records: None) as spool:
        blob = keep(campaign, spool, lambda records: None)
    assert b"".join(pieces(blob)) == text.encode()
