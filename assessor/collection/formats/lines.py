"""Lines of a file of unknown making: plain or gzip, never more than one line in memory."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from assessor.collection.formats.report import Report

MAX_LINE = 8 * 1024 * 1024
# Text packs 3 to 30 times: a file that unpacks to more than this would only keep a worker busy.
_TIMES, _UNPACKED = 200, 64 * 1024 * 1024  # bytes
_BUFFER = 1024 * 1024  # bytes
_BOM = "\ufeff"


class Line(NamedTuple):
    """A line of a file: its number, from 1, and its text without the line end."""

    number: int
    text: str

    def __reduce__(self) -> "tuple[type[Line], tuple[int, str]]":
        """Of a record that is put aside, the line's number is kept; its text is in the record already."""
        return Line, (self.number, "")


class _Counted(io.RawIOBase):
    """A file that counts and hashes the bytes read from it."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.count = 0
        self.hash = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        chunk = self._raw.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self.count += len(chunk)
        self.hash.update(chunk)
        return len(chunk)


class _Bomb(Exception):
    """A file unpacks to more than any text does; the text says to how much."""


class _Unpacked(io.RawIOBase):
    """A gzip file as it is inside, up to a multiple of its size. Read it through a buffer: lines are found there."""

    def __init__(self, packed: BinaryIO, counted: _Counted) -> None:
        self._inside = gzip.GzipFile(fileobj=packed)
        self._packed = counted
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        if self._count > _UNPACKED + _TIMES * self._packed.count:
            raise _Bomb(f"more than {_TIMES} times what is packed")
        chunk = self._inside.read1(len(buffer))
        buffer[: len(chunk)] = chunk
        self._count += len(chunk)
        return len(chunk)


class SourceFile:
    """A file to be read once, with its progress (bytes_read) and its sha256 at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counted: _Counted | None = None

    @property
    def bytes_read(self) -> int:
        return self._counted.count if self._counted else 0

    @property
    def sha256(self) -> str:
        """The hash of what has been read: of the whole file once lines() has ended."""
        return self._counted.hash.hexdigest() if self._counted else ""

    def lines(self, report: Report) -> Iterator[Line]:
        """Yield the lines that are not blank. Raises Unreadable where reading can't go on."""
        number = 0
        with self._path.open("rb") as raw:
            self._counted = _Counted(raw)
            packed = io.BufferedReader(self._counted, _BUFFER)
            stream: BinaryIO = packed
            if packed.peek(2)[:2] == b"\x1f\x8b":
                stream = io.BufferedReader(_Unpacked(packed, self._counted), _BUFFER)
            try:
                for number, data in enumerate(_raw_lines(stream), start=1):
                    if data.isspace():
                        continue
                    text = _decode(data, number, report)
                    if text is not None and text.strip():
                        yield Line(number, text)
            except _Bomb as error:
                raise report.fatal(number + 1, "", str(error), "a gzip file of text") from error
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise report.fatal(number + 1, "", str(error), "a whole gzip file") from error
        report.counts["lines"] = number


def _raw_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield lines with their line end; of a line that is too long, its first MAX_LINE + 1 bytes."""
    while data := stream.readline(MAX_LINE + 1):
        yield data
        while len(data) > MAX_LINE and not data.endswith(b"\n"):
            data = stream.readline(MAX_LINE + 1)


def _decode(data: bytes, number: int, report: Report) -> str | None:
    if len(data) > MAX_LINE and not data.endswith(b"\n"):
        report.error(number, "", f"more than {MAX_LINE:,} bytes", "a line of at most 8 MiB")
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        # Of a binary file every further line would say the same.
        byte = f"byte 0x{data[error.start]:02x} at byte {error.start + 1} of the line"
        raise report.fatal(number, "", byte, "text in UTF-8") from error
    text = text.removesuffix("\n").removesuffix("\r")
    return text.removeprefix(_BOM) if number == 1 else text
