"""Files that outlast a request and that other machines need: in the data folder, or in a bucket (object_storage)."""

import logging
import os
from collections.abc import Callable, Collection
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages
from django.utils import timezone

_log = logging.getLogger(__name__)
_FORGOTTEN = timedelta(hours=1)  # after which a file that no record names was left behind
_BROKEN_OFF = timedelta(days=1)  # after which a file is no longer on its way to a bucket


class StorageAway(Exception):
    """The object storage doesn't answer or refuses; the text says which. Nothing is known of its files then."""


class DataFolder(FileSystemStorage):
    """A folder in the data folder, for the eyes of Assay's user alone."""

    def __init__(self, folder: str) -> None:
        # Where an older database was restored, a record gets the key, and a file the name, of one that is gone.
        super().__init__(file_permissions_mode=0o600, allow_overwrite=True)
        self._folder = folder

    @property
    def location(self) -> str:
        return os.path.abspath(settings.DATA_DIR / self._folder)


class StoredFile:
    """A file in the storage of an alias: written once, whole, under a name that no other file ever has."""

    def __init__(self, alias: str, name: str) -> None:
        self._alias, self.name = alias, name

    @property
    def _storage(self) -> Storage:
        return storages[self._alias]

    def open(self, mode: str = "rb") -> IO[bytes]:
        """Open it to be read once, from the start. Raises FileNotFoundError and StorageAway."""
        return cast(IO[bytes], self._storage.open(self.name, mode))

    def exists(self) -> bool:
        """Say whether it is there. Raises StorageAway."""
        return self._storage.exists(self.name)

    def take(self, path: Path, sign_of_life: Callable[[], object] = lambda: None) -> None:
        """Move a file of this machine's disk here; sign_of_life is called meanwhile. Raises StorageAway."""
        with path.open("rb") as file:
            self._storage.save(self.name, _Moved(file, path, sign_of_life))
        path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove it; what can't be reached now is swept later, as no record needs it any more."""
        try:
            self._storage.delete(self.name)
        except StorageAway as error:
            _log.warning("%s is not removed yet: %s", self.name, error)


class _Moved(File):  # type: ignore[type-arg]
    """A file on the disk, which a storage on that disk renames and any other one reads."""

    def __init__(self, file: IO[bytes], path: Path, sign_of_life: Callable[[], object]) -> None:
        super().__init__(file, path.name)
        self._data, self._path, self._sign_of_life = file, path, sign_of_life

    def temporary_file_path(self) -> str:
        return str(self._path)

    def read(self, *args: Any) -> bytes:
        self._sign_of_life()
        return self._data.read(*args)


def sweep(alias: str, wanted: Collection[str]) -> None:
    """Remove files that are an hour old and not wanted: of the storage, and what is being made on this disk."""
    _remove_forgotten(DataFolder(alias), wanted)
    if settings.OBJECT_STORAGE:
        try:
            _remove_forgotten(storages[alias], wanted)
            storages[alias].abort_uploads(timezone.now() - _BROKEN_OFF)  # type: ignore[attr-defined]
        except StorageAway as error:
            _log.warning("Old files in %s are not removed yet: %s", alias, error)


def _remove_forgotten(storage: Storage, wanted: Collection[str]) -> None:
    from assessor.runtime.clock import shared_now  # which reads the database, whose errors include this storage's

    now = shared_now()
    for name in storage.listdir("")[1]:
        try:
            if name not in wanted and now - storage.get_modified_time(name) > _FORGOTTEN:
                storage.delete(name)
        except FileNotFoundError:
            pass  # another process has moved or removed it
