"""Verifying a frozen bundle, a zip or a folder: needs nothing but the files. Knows no database."""

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from assessor.exports.signatures import is_signed
from assessor.exports.zips import MANIFEST, SIGNATURE, Part, bundle, signature_file
from assessor.formats.report import visible

_AT_A_TIME = 1 << 20
_LONGEST = 16 << 20  # bytes of a manifest


class Verdict(NamedTuple):
    """What is wrong with a bundle, and what it is: its manifest, and the key that signed it or nothing."""

    problems: list[str]
    manifest: dict[str, Any]
    manifest_sha256: str
    signed_by: str


class _Unreadable(Exception):
    """What is there is no bundle; the text says why."""


class _Files(NamedTuple):
    """The files of a bundle by name, and how each is read."""

    names: list[str]
    size: Callable[[str], int]
    read: Callable[[str], Iterator[bytes]]


def verify(path: Path, key: str = "") -> Verdict:
    """Verify a bundle. key: the public key (base64) that must have signed it; none: whichever it names."""
    verdict = _verdict(path, key)
    return verdict._replace(problems=[visible(problem) for problem in verdict.problems])  # names in a zip may be odd


def _verdict(path: Path, key: str) -> Verdict:
    try:
        with _opened(path) as files:
            verdict = _verify(files, key)
            if not verdict.problems and path.is_file():
                verdict.problems.extend(_bytes_that_differ(path, files))
            return verdict
    except _Unreadable as error:
        return Verdict([str(error)], {}, "", "")
    except (OSError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        return Verdict([f"{path} can't be read as a bundle: {error}"], {}, "", "")


@contextmanager
def _opened(path: Path) -> Iterator[_Files]:
    if path.is_dir():
        names = sorted(str(found.relative_to(path)) for found in path.rglob("*") if not found.is_dir())
        yield _Files(names, lambda name: (path / name).stat().st_size, lambda name: _pieces((path / name).open("rb")))
    else:
        with zipfile.ZipFile(path) as archive:
            # Bundles are stored as they are; what is small and unpacks to much is none.
            if packed := [one.filename for one in archive.infolist() if one.compress_type != zipfile.ZIP_STORED]:
                raise _Unreadable(f"{packed[0]} is compressed: this is no bundle as it was frozen.")
            yield _Files(
                archive.namelist(),
                lambda name: archive.getinfo(name).file_size,
                lambda name: _pieces(archive.open(name)),
            )


def _pieces(file: Any) -> Iterator[bytes]:
    with file:
        while piece := file.read(_AT_A_TIME):
            yield piece


def _verify(files: _Files, key: str) -> Verdict:
    for name in (MANIFEST, SIGNATURE):
        if name not in files.names:
            raise _Unreadable(f"{name} is missing: this is no whole bundle.")
    text = _short(files, MANIFEST)
    manifest, signature = _json(text, MANIFEST), _short(files, SIGNATURE)
    told = manifest.get("files")
    if not isinstance(told, list) or not all(
        isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("sha256"), str)
        for one in told
    ):
        raise _Unreadable(f"{MANIFEST} names no files.")
    problems, signed_by = _about_signature(text, signature, key)
    if manifest.get("signed") and not signed_by and not problems:
        problems.append("It was signed, and its signature is gone.")
    sums = {one["name"]: one["sha256"] for one in told}
    known = {*sums, MANIFEST, SIGNATURE}
    problems += [f"{name} is missing." for name in sums if name not in files.names]
    problems += [f"{name} is not named in the manifest." for name in files.names if name not in known]
    problems += [f"{name} is there more than once." for name in known if files.names.count(name) > 1]
    for name, wanted in sums.items():
        if name in files.names and (found := _sum(files.read(name))) != wanted:
            problems.append(f"{name} was changed: its sha256 is {found}, that of the manifest {wanted}.")
    return Verdict(problems, manifest, hashlib.sha256(text).hexdigest(), signed_by)


def _about_signature(text: bytes, signature: bytes, key: str) -> tuple[list[str], str]:
    """Return what is wrong with the signature of a manifest, and the key that it is of."""
    told = _json(signature, SIGNATURE)
    named, given = (str(told.get(name) or "") for name in ("public_key", "signature"))
    problems = []
    if told.get("manifest_sha256") != hashlib.sha256(text).hexdigest():
        problems.append(f"{MANIFEST} was changed: its sha256 is not the one in {SIGNATURE}.")
    elif signature != signature_file(text, named, given):
        problems.append(f"{SIGNATURE} was changed.")
    if not named and not given:
        return problems + (["It is not signed."] if key else []), ""
    if not is_signed(text, key=named, signature=given):
        return [*problems, "The signature is not that of the manifest."], ""
    if key and named != key:
        return [*problems, "It was signed with another key."], ""
    return problems, named


def _bytes_that_differ(path: Path, files: _Files) -> list[str]:
    """Say whether a zip has other bytes than its files make, such as something hidden between them."""
    made = _sum(bundle(Part(name, files.size(name), files.read(name)) for name in files.names))
    return [] if made == _sum(_pieces(path.open("rb"))) else ["The zip was changed between its files."]


def _short(files: _Files, name: str) -> bytes:
    found = b""
    for piece in files.read(name):
        found += piece
        if len(found) > _LONGEST:
            raise _Unreadable(f"{name} is too long.")
    return found


def _json(text: bytes, name: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _Unreadable(f"{name} is no JSON.") from error
    if not isinstance(found, dict):
        raise _Unreadable(f"{name} is no JSON object.")
    return found


def _sum(pieces: Iterator[bytes]) -> str:
    found = hashlib.sha256()
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()
