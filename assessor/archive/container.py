"""The file around an archive: a zip of text files, the same bytes each time, written and read as a stream."""

import hashlib
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from assessor.archive.errors import ArchiveError, wrong
from assessor.exports.checksums import Tally
from assessor.exports.zips import Pipe
from assessor.formats.values import to_json

MANIFEST = "manifest.json"
LONGEST_LINE = 64 * 1024 * 1024  # bytes
_LONGEST_MANIFEST = 1024 * 1024
_BLOCK = 256 * 1024
# What a file may unpack to: JSON lines of equal records shrink to a thirtieth, a bomb to a thousandth.
_MOST_TIMES, _FREE = 200, 16 * 1024 * 1024
_NAME = re.compile(r"[a-z]+\.[a-z]+\.jsonl")
_LEVEL = 6


class Told(NamedTuple):
    """What the manifest says of a file."""

    name: str
    rows: int
    bytes: int
    sha256: str
    fields: list[str]


class Writer:
    """Writes the zip. Each function yields bytes of it, to be sent on as they come."""

    def __init__(self) -> None:
        self._out = Pipe()
        self._zip = zipfile.ZipFile(self._out, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
        self.told: list[Told] = []
        self.manifest = ""

    def add(self, name: str, fields: list[str], lines: Iterable[str]) -> Iterator[bytes]:
        """Write a file of lines."""
        tally = Tally(heads=0)

        def blocks() -> Iterator[bytes]:
            block: list[bytes] = []
            held = 0
            for line in lines:
                data = tally.add(f"{line}\n")
                if len(data) > LONGEST_LINE:
                    raise ArchiveError(f"{name}, line {tally.records} would have more than {LONGEST_LINE:,} bytes.")
                block.append(data)
                held += len(data)
                if held >= _BLOCK:
                    yield b"".join(block)
                    block, held = [], 0
            yield b"".join(block)

        yield from self._member(name, blocks())
        facts = tally.facts()
        self.told.append(Told(name, facts["records"], facts["size"], facts["sha256"], fields))

    def end(self, head: dict[str, Any]) -> Iterator[bytes]:
        """Write the manifest, which is known last, and what ends a zip."""
        self.manifest = _pretty(head | {"files": [told._asdict() for told in self.told]})
        yield from self._member(MANIFEST, [self.manifest.encode()])
        self._zip.close()
        yield self._out.fetch()

    def _member(self, name: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
        # What zipfile would take from the clock or the system is said.
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.create_system, info.external_attr, info.compress_type = 3, 0o600 << 16, zipfile.ZIP_DEFLATED
        with self._zip.open(info, "w", force_zip64=True) as member:
            for block in blocks:
                member.write(block)
                if self._out.held >= _BLOCK:
                    yield self._out.fetch()


def _pretty(manifest: dict[str, Any]) -> str:
    """Return the manifest, a file a line: people look into it."""
    head = [f"  {to_json(name)}: {to_json(value)}" for name, value in manifest.items() if name != "files"]
    files = ",\n".join(f"    {to_json(told)}" for told in manifest["files"])
    return "{\n" + ",\n".join([*head, f'  "files": [\n{files}\n  ]']) + "\n}\n"


class Reader:
    """Reads the zip, of which nothing is believed. Nothing of it is ever put on disk."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise ArchiveError(f"{path.name} is no archive: {error}.") from error
        self._infos: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            if info.filename in self._infos:
                raise wrong(info.filename, 0, "", "the file twice", "each file once")
            if info.filename != MANIFEST and not _NAME.fullmatch(info.filename):
                raise wrong(path.name, 0, "", f"a file {info.filename!r}", "files named as app.model.jsonl")
            if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise wrong(info.filename, 0, "", "an unknown way of packing", "deflate, without a password")
            if info.file_size > _MOST_TIMES * info.compress_size + _FREE:
                found = f"{info.compress_size:,} bytes that unpack to {info.file_size:,}"
                raise wrong(info.filename, 0, "", found, f"at most {_MOST_TIMES} times as many")
            self._infos[info.filename] = info

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def names(self) -> set[str]:
        """Return the names of all files but the manifest."""
        return self._infos.keys() - {MANIFEST}

    def manifest(self) -> bytes:
        """Return the manifest as it stands."""
        if MANIFEST not in self._infos:
            raise ArchiveError(f"{MANIFEST} is not in the file: it is no archive, or not all of one.")
        if self._infos[MANIFEST].file_size > _LONGEST_MANIFEST:
            raise wrong(MANIFEST, 0, "", f"{self._infos[MANIFEST].file_size:,} bytes", f"{_LONGEST_MANIFEST:,} at most")
        return b"".join(self._lines(MANIFEST))

    def lines(self, told: Told) -> Iterator[bytes]:
        """Yield the lines of a file; at its end, hold it against the manifest. Raises ArchiveError."""
        size = self._infos[told.name].file_size
        if size != told.bytes:
            raise wrong(told.name, 0, "", f"{size:,} bytes", f"{told.bytes:,}, says {MANIFEST}")
        rows = 0
        digest = hashlib.sha256()
        for line in self._lines(told.name):
            rows += 1
            digest.update(line)
            if not line.endswith(b"\n"):
                raise wrong(told.name, rows, "", "a line without an end", f"lines of at most {LONGEST_LINE:,} bytes")
            yield line[:-1]
        if rows != told.rows:
            raise wrong(told.name, 0, "", f"{rows:,} lines", f"{told.rows:,}, says {MANIFEST}")
        if digest.hexdigest() != told.sha256:
            raise wrong(told.name, 0, "", f"sha256 {digest.hexdigest()}", f"{told.sha256}, says {MANIFEST}")

    def _lines(self, name: str) -> Iterator[bytes]:
        try:
            with self._zip.open(self._infos[name]) as member:
                while line := member.readline(LONGEST_LINE):
                    yield line
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise ArchiveError(f"{name} can't be unpacked: {error}.") from error
