"""What is known of a file while it goes by."""

import hashlib
from typing import IO, Any

_CHUNK = 1 << 16  # bytes


class Damaged(Exception):
    """What is kept is not what was written; the text says what."""


class Tally:
    """Counts records and bytes, and sums the bytes up. heads: lines before the first record."""

    def __init__(self, heads: int) -> None:
        self.records, self.size, self._sum = -heads, 0, hashlib.sha256()

    def add(self, line: str) -> bytes:
        """Return a line as it stands in the file."""
        data = line.encode()
        self.records += 1
        self.size += len(data)
        self._sum.update(data)
        return data

    def seen(self, line: str) -> str:
        """Return a line, counted."""
        self.add(line)
        return line

    def facts(self) -> dict[str, Any]:
        """Return what a manifest tells of the file."""
        return {"records": max(0, self.records), "size": self.size, "sha256": self._sum.hexdigest()}


class Checked:
    """The bytes of a kept file. Raises Damaged before the last of them where they are not those that were written."""

    def __init__(self, file: IO[bytes], *, size: int, sha256: str) -> None:
        self.size = size
        self._file, self._sha256, self._found = file, sha256, hashlib.sha256()
        self._next = self._read()  # held back until the one behind it is there

    def _read(self) -> bytes:
        data = self._file.read(_CHUNK)
        self._found.update(data)
        if not data and self._found.hexdigest() != self._sha256:
            raise Damaged(f"{self._file.name} is not the file whose sha256 is {self._sha256}.")
        return data

    def __iter__(self) -> "Checked":
        return self

    def __next__(self) -> bytes:
        data = self._next
        if not data:
            raise StopIteration
        self._next = self._read()
        return data

    def close(self) -> None:
        self._file.close()
