"""An S3-compatible server, and this process's files on it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assessor.accounts.models import Person
from assessor.runtime.environment import object_storage, storage_of
from tests.conftest import client_of
from tests.object_store import ObjectStore


@pytest.fixture
def store() -> Iterator[ObjectStore]:
    made = ObjectStore()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    """A data folder of each test's own."""
    settings.DATA_DIR = tmp_path / "data"
    for name in ("uploads", "exports"):
        (settings.DATA_DIR / name).mkdir(parents=True)
    return Path(settings.DATA_DIR)


@pytest.fixture
def use(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], None]:
    """Have the files of this process where an environment says."""

    def do(env: dict[str, str]) -> None:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        place = object_storage("ASSAY_STORAGE")
        settings.OBJECT_STORAGE = place
        own = {folder: storage_of(folder, place) for folder in ("uploads", "exports")}
        settings.STORAGES = settings.STORAGES | own

    return do


@pytest.fixture
def stored(store: ObjectStore, use: Callable[[dict[str, str]], None]) -> ObjectStore:
    """The server, with this process's files on it."""
    use(store.env())
    return store


@pytest.fixture
def as_olga(olga: Person) -> Any:
    return client_of(olga)
