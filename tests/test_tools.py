"""Programs that no other module imports find all that they import themselves: a rename elsewhere fails here."""

from importlib import import_module
from pathlib import Path

import pytest

from tests.conftest import DATABASE
from tests.mutations import ROOT

FOLDERS = [ROOT / "bench", ROOT / "tests" / "faults", ROOT / "tests" / "endpoints"]
FILES = [*(file for folder in FOLDERS for file in folder.glob("*.py")), ROOT / "tests" / "attacks.py"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_it_can_be_imported(file: Path):
    import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))


@pytest.mark.parametrize("start", DATABASE)
def test_what_is_marked_database_is_there(start: str):
    """A test of another name would run on PostgreSQL no longer, and nobody would see it."""
    path, _, name = start.partition("::")
    assert (ROOT / path).exists()
    assert not name or f"def {name}" in (ROOT / path).read_text()
