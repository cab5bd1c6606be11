"""What is known of a file while its lines go by."""

import hashlib
from typing import Any


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
