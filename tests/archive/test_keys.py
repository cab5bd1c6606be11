"""No archive holds a key of the database: what names something in it is true in every database."""

import io
import zipfile

import pytest

from assessor.campaigns.models import Campaign
from tests.archive.campaigns import written
from tests.keys import far_keys, keys_in  # noqa: F401  # fixture

# Before any other fixture makes a record.
pytestmark = pytest.mark.usefixtures("far_keys")


def test_no_archive_holds_a_key(computed: Campaign):
    with zipfile.ZipFile(io.BytesIO(written(computed))) as opened:
        lines = {name: opened.read(name).decode().splitlines() for name in opened.namelist()}
    assert len(lines["studies.sampleditem.jsonl"]) > 0
    assert keys_in(lines) == []
