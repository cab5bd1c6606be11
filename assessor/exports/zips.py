"""Bundles: files in one zip that is the same bytes for the same files, on every machine. Knows no database."""

import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple, Protocol

MANIFEST, SIGNATURE = "manifest.json", "signature.json"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # what a zip must say of time, and nothing here depends on
_LARGE = 2**31 - 1


def signature_file(manifest: bytes, public_key: str, signature: str) -> bytes:
    """Return what stands in a bundle beside the manifest: its sum, and the signature where there is one."""
    told = {
        "algorithm": "Ed25519" if signature else None,
        "manifest_sha256": sha256(manifest).hexdigest(),
        "public_key": public_key or None,
        "signature": signature or None,
    }
    return (json.dumps(told, indent=1) + "\n").encode()


class Part(NamedTuple):
    """A file of a bundle."""

    name: str
    size: int
    data: Iterable[bytes]


class Zip(Protocol):
    """The bytes of a zip; once they are all read, how many records are in it, and its manifest."""

    records: int
    manifest: str

    def __iter__(self) -> Iterator[bytes]: ...


class Pipe(io.RawIOBase):
    """Takes what a zip writes until it is fetched; it can't go back, so the bytes are those of a stream anywhere."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self.held = 0  # bytes

    def writable(self) -> bool:
        return True

    def write(self, data: "bytes | bytearray | memoryview") -> int:  # type: ignore[override]
        self._waiting.append(bytes(data))
        self.held += len(data)
        return len(data)

    def fetch(self) -> bytes:
        """Return what was written since the last time."""
        found = b"".join(self._waiting)
        self._waiting.clear()
        self.held = 0
        return found


def file_name(name: str, used: set[str]) -> str:
    """Return a name as a file in a zip has it, with a number before it if it is used already.

    It is used from then on.
    """
    name = re.sub(r"[^A-Za-z0-9._+-]", "_", name)
    name = next(one for one in (name, *(f"{number}.{name}" for number in range(2, 10_000))) if one not in used)
    used.add(name)
    return name


def bundle(parts: Iterable[Part]) -> Iterator[bytes]:
    """Yield the bytes of a zip of these files, stored as they are: another compression would be other bytes."""
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_STORED) as archive:
        for part in parts:
            info = zipfile.ZipInfo(part.name, _LONG_AGO)
            info.create_system, info.external_attr = 3, 0o644 << 16
            with archive.open(info, "w", force_zip64=part.size > _LARGE) as out:
                for data in part.data:
                    out.write(data)
                    yield pipe.fetch()
            yield pipe.fetch()
    yield pipe.fetch()
