"""Lines of a file of unknown making: plain or gzip, never more than one line in memory.

JSON that is not one object a line is read as if it were: objects behind each other in a line, and files of an array or
of indented objects, which are held in memory up to the length of one line.
"""

import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Generator, Iterator
from itertools import chain
from typing import IO, BinaryIO, Literal, NamedTuple, Protocol

from assessor.formats.report import Report

MAX_LINE = 8 * 1024 * 1024
# Text packs 3 to 30 times: a file that unpacks to more than this would only keep a worker busy.
TIMES, UNPACKED = 200, 64 * 1024 * 1024  # bytes
_BUFFER = 1024 * 1024  # bytes
_BOM = "\ufeff"
_GIT_LFS = "version https://git-lfs.github.com/spec/"
_JSON = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")
_BEHIND_EACH_OTHER = re.compile(r"\} ?\{")  # takes half as long as a look for either
_EACH_ON_A_LINE = "Write one JSON object a line, for example with jq -c."


class Line(NamedTuple):
    """A line of a file: its number, from 1, and its text without the line end."""

    number: int
    text: str

    def __reduce__(self) -> "tuple[type[Line], tuple[int, str]]":
        """Of a record that is put aside, the line's number is kept; its text is in the record already."""
        return Line, (self.number, "")


class _Counted(io.RawIOBase):
    """A file that counts and hashes the bytes read from it."""

    def __init__(self, raw: IO[bytes]) -> None:
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
        if self._count > UNPACKED + TIMES * self._packed.count:
            raise _Bomb(f"more than {TIMES} times what is packed")
        chunk = self._inside.read1(len(buffer))
        buffer[: len(chunk)] = chunk
        self._count += len(chunk)
        return len(chunk)


class Openable(Protocol):
    """A file to be opened: a path, or one of another place."""

    def open(self, mode: Literal["rb"], /) -> IO[bytes]: ...


class SourceFile:
    """A file to be read once, with its progress (bytes_read) and its sha256 at the end."""

    def __init__(self, file: Openable) -> None:
        self._file = file
        self._counted: _Counted | None = None

    @property
    def bytes_read(self) -> int:
        return self._counted.count if self._counted else 0

    @property
    def sha256(self) -> str:
        """The hash of what has been read: of the whole file once lines() has ended."""
        return self._counted.hash.hexdigest() if self._counted else ""

    def lines(self, report: Report) -> Generator[Line]:
        """Yield the lines that are not blank, of JSON the records. Raises Unreadable where reading can't go on."""
        lines = self._lines(report)
        first = next(lines, None)
        if first is None:
            return
        if first.text.startswith(_GIT_LFS):
            remedy = "Fetch the file itself with git lfs pull."
            raise report.fatal(first.number, "", "a Git LFS pointer", "the file that it points to", remedy=remedy)
        if _is_indented(first.text):
            report.warn(
                "indented JSON",
                first.number,
                "",
                "an object over several lines",
                "one JSON object a line; it is read the same",
            )
        if _is_indented(first.text) or _is_array(first.text):
            yield from _records(_whole(first, lines, report), first.number, report)
            return
        for line in chain([first], lines):
            if line.text.startswith("{") and _BEHIND_EACH_OTHER.search(line.text):
                yield from _records(line.text, line.number, report)
            else:
                yield line

    def _lines(self, report: Report) -> Iterator[Line]:
        number = 0
        with self._file.open("rb") as raw:
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


def _is_array(first: str) -> bool:
    text = first.strip()
    return text.startswith("[") and text[1:].lstrip()[:1] in ("", "{")


def _is_indented(first: str) -> bool:
    text = first.strip()
    return text.startswith("{") and text.endswith(("{", "[", ",", ":"))


def _whole(first: Line, lines: Iterator[Line], report: Report) -> str:
    """Return a file's text, with its blank lines, so that line ends tell the numbers of lines."""
    parts, size, last = [first.text], len(first.text), first.number
    for line in lines:
        line_ends = line.number - last
        size += line_ends + len(line.text)
        if size > MAX_LINE:
            expected = "one JSON object a line, or at most 8 MiB"
            raise report.fatal(first.number, "", "more than 8 MiB of JSON", expected, remedy=_EACH_ON_A_LINE)
        parts += ["\n" * line_ends, line.text]
        last = line.number
    return "".join(parts)


def _records(text: str, number: int, report: Report) -> Iterator[Line]:
    """Yield the objects of an array, or those behind each other, as one line each, with the number of its first.

    Where JSON ends, the rest is a line too, for its reader to refuse.
    """
    text, counted = text.rstrip(" \t\r\n"), 0
    at = _behind_blanks(text, 0)
    is_array = text[at] == "["
    is_open = is_array
    if is_array:
        at = _behind_blanks(text, at + 1)
        is_open = text[at : at + 1] != "]"
    while is_open if is_array else at < len(text):
        number, counted = number + text.count("\n", counted, at), at
        try:
            _, end = _JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield Line(number, text[at:])
            return
        yield Line(number, text[at:end].replace("\n", " "))  # no line end can be in a string
        at = _behind_blanks(text, end)
        if is_array:
            is_open = text[at : at + 1] == ","
            at = _behind_blanks(text, at + is_open)
    number += text.count("\n", counted, at)
    if is_array and text[at:] != "]":
        found = text[at : at + 40] or "the end of the file"
        raise report.fatal(number, "", found, "an array of objects, with commas between them, and nothing behind it")


def _behind_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


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
