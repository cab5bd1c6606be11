"""Frozen files in an archive: their bytes are those that their manifests name, and signatures are signatures."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from assessor.archive.errors import wrong
from assessor.exports.checksums import Damaged
from assessor.exports.frozen_files import unpacked
from assessor.exports.models import Blob, Chunk, Frozen, FrozenFile
from assessor.exports.signatures import is_signed


class _Bytes:
    """The bytes of a blob, as they come, against what its record says."""

    def __init__(self, sha256: str, size: int) -> None:
        self.sha256, self._size = sha256, size
        self._found, self._read, self.chunks = hashlib.sha256(), 0, 0

    def add(self, data: bytes) -> None:
        self._found.update(data)
        self._read += len(data)
        self.chunks += 1

    @property
    def is_whole(self) -> bool:
        return (self._found.hexdigest(), self._read) == (self.sha256, self._size)


class FrozenFiles:
    """What an archive has of frozen conditions, record after record in their order, each by the number of its line."""

    def __init__(self) -> None:
        self._blobs: list[_Bytes] = []
        self._told: list[dict[str, str]] = []  # of each version, its files' sums by name
        self._there: dict[int, dict[str, str]] = defaultdict(dict)

    def look_at(self, model: type[Model], number: int, values: Mapping[str, Any]) -> None:
        """Look at a record, in which the numbers of others stand. Raises ArchiveError."""
        if model is Blob:
            self._blobs.append(_Bytes(values["sha256"], values["size"]))
        elif model is Chunk:
            self._chunk(number, values)
        elif model is Frozen:
            self._version(number, values)
        elif model is FrozenFile:
            self._file(number, values)

    def _chunk(self, number: int, values: Mapping[str, Any]) -> None:
        blob = self._blobs[values["blob_id"] - 1]
        if values["place"] != blob.chunks:
            raise wrong("exports.chunk.jsonl", number, "place", values["place"], f"{blob.chunks}, the next of its blob")
        try:
            blob.add(unpacked(values["data"]))
        except Damaged as error:
            raise wrong("exports.chunk.jsonl", number, "data", error, "a part of a frozen file") from error

    def _version(self, number: int, values: Mapping[str, Any]) -> None:
        manifest, key, signature = values["manifest"], values["public_key"], values["signature"]
        try:
            self._told.append({file["name"]: file["sha256"] for file in json.loads(manifest)["files"]})
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            expected = "a manifest with the sums of its files"
            raise wrong("exports.frozen.jsonl", number, "manifest", manifest, expected) from error
        if (key or signature) and not is_signed(manifest.encode(), key=key, signature=signature):
            expected = "that of the manifest by the public key"
            raise wrong("exports.frozen.jsonl", number, "signature", signature, expected)

    def _file(self, number: int, values: Mapping[str, Any]) -> None:
        # Of a freeze that was broken off, and is of no version, there may be some of the bytes.
        blob = self._blobs[values["blob_id"] - 1]
        if not blob.is_whole:
            expected = f"bytes whose size and sha256 are those of {blob.sha256}"
            raise wrong("exports.frozenfile.jsonl", number, "blob", "others", expected)
        self._there[values["frozen_id"]][values["name"]] = blob.sha256

    def end(self) -> None:
        """Hold the versions against their files. Raises ArchiveError."""
        for number, told in enumerate(self._told, 1):
            if self._there[number] != told:
                found = ", ".join(self._there[number]) or "no files"
                expected = "the files that are there, with their sums"
                raise wrong("exports.frozen.jsonl", number, "manifest", f"one of others than {found}", expected)
