"""A campaign with a record of everything, beside another one, and its archive on disk."""

from pathlib import Path

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from tests.archive.campaigns import compute_comparison, make_everything, written
from tests.conftest import Importer


@pytest.fixture
def whole(anna: Person, ben: Person, olga: Person, otto: Person, import_file: Importer) -> Campaign:
    """A campaign with records of all that people and models do."""
    people = {"anna": anna, "ben": ben, "olga": olga, "otto": otto}
    return make_everything("whole", people, import_file)


@pytest.fixture
def computed(whole: Campaign) -> Campaign:
    """The campaign with a comparison that was computed: there is a record of every model."""
    compute_comparison(whole)
    return whole


@pytest.fixture
def archived(whole: Campaign, tmp_path: Path) -> Path:
    """Its archive."""
    path = tmp_path / "whole.zip"
    path.write_bytes(written(whole))
    return path
