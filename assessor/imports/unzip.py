"""Files of a zip archive, taken out to the disk one by one; what a zip says of itself is not believed."""

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from django.conf import settings

from assessor.formats import lines
from assessor.imports.uploads import new_file

MOST_FILES = 1_000
_TIMES = 4  # what one upload may be: all that an archive unpacks to
_CHUNK = 1024 * 1024  # bytes
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # those that unpack a little at a time
# The record at the end of an archive, and what stands before it where that has no room for large numbers.
_END, _LARGE = b"PK\x05\x06", b"PK\x06\x07"
_END_LENGTH, _LARGE_LENGTH, _LONGEST_COMMENT = 22, 20, 65_535
_LONGEST_DIRECTORY = 1024 * 1024  # bytes: zipfile reads all of it at once


class ZipRefused(Exception):
    """A zip file can't be taken; the text says why."""


def is_zip(name: str) -> bool:
    return name.lower().endswith(".zip")


def unpack(path: Path) -> list[tuple[str, Path]]:
    """Return the files in a zip archive by their names, without folders, each in a file of its own on the disk.

    All of them or none. Raises ZipRefused.
    """
    unpacked: list[tuple[str, Path]] = []
    try:
        _check_end(path)
        with zipfile.ZipFile(path) as archive:
            left = settings.MAX_UPLOAD_BYTES * _TIMES
            for member in _members(archive):
                target = new_file(".unpacked")
                unpacked.append((PurePosixPath(member.filename).name, target))
                most = min(left, lines.UNPACKED + lines.TIMES * member.compress_size)
                left -= _take_out(archive, member, target, most)
    except BaseException as error:
        for _, target in unpacked:
            target.unlink(missing_ok=True)
        if isinstance(error, (zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError)):
            raise ZipRefused(f"it is no whole zip file ({error})") from error
        raise
    return unpacked


def _check_end(path: Path) -> None:
    """Refuse an archive whose list of files is long, before it is read into memory."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _END_LENGTH - _LARGE_LENGTH - _LONGEST_COMMENT))
        tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_LENGTH:
        raise ZipRefused("it is no whole zip file")
    [directory] = struct.unpack_from("<L", tail, at + 12)
    is_large = tail[max(0, at - _LARGE_LENGTH) :].startswith(_LARGE)
    if is_large or directory > _LONGEST_DIRECTORY:
        raise ZipRefused(f"it lists more files than are taken at once; at most {MOST_FILES:,} are")


def _members(archive: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    """Yield the files that a person put in; systems add some whose names begin with a dot."""
    members = [one for one in archive.infolist() if not one.is_dir() and _is_a_persons(one.filename)]
    if not members:
        raise ZipRefused("it holds no file")
    if len(members) > MOST_FILES:
        raise ZipRefused(f"it holds {len(members):,} files; at most {MOST_FILES:,} are taken at once")
    for member in members:
        if member.flag_bits & 1:
            raise ZipRefused(f"{member.filename} in it is encrypted")
        if member.compress_type not in _METHODS:
            raise ZipRefused(f"{member.filename} in it is packed by another method than deflate")
        yield member


def _is_a_persons(name: str) -> bool:
    parts = PurePosixPath(name.replace("../", "")).parts
    return not any(part.startswith(".") or part == "__MACOSX" for part in parts)


def _take_out(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, most: int) -> int:
    """Write a file of an archive to the disk; return its size in bytes."""
    size = 0
    with archive.open(member) as packed, target.open("wb") as file:
        while chunk := packed.read(_CHUNK):
            size += len(chunk)
            if size > most:
                raise ZipRefused(f"{member.filename} in it unpacks to more than {most // 1024**2:,} MiB")
            file.write(chunk)
    return size
