"""The endpoint's files: uploads and the output of batches, in a folder that ends with the endpoint."""

import asyncio
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Self, cast

from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from assessor.llm.rehearsal.request import Refused

MOST_BYTES = 200 * 1024 * 1024  # as OpenAI has it for batches
_ENVELOPE = 64 * 1024  # what a form with one file has beside it
_CHUNK = 64 * 1024


class Files:
    """Keeps files by their id, on disk."""

    def __init__(self) -> None:
        self._contents: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        # A batch may still be writing when the endpoint ends.
        self._folder = tempfile.TemporaryDirectory(prefix="assay-rehearsal-", ignore_cleanup_errors=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def new_path(self) -> Path:
        return Path(self._folder.name) / f"file-{uuid.uuid4().hex}"

    def add(self, path: Path, filename: str, purpose: str, seconds: int | None = None) -> dict[str, Any]:
        """Keep the file at a path of new_path, whose name becomes its id. seconds: until it expires."""
        now = int(time.time())
        content = {
            "id": path.name,
            "object": "file",
            "bytes": path.stat().st_size,
            "created_at": now,
            "expires_at": now + seconds if seconds else None,
            "filename": filename,
            "purpose": purpose,
            "status": "processed",
        }
        self._contents[path.name] = content
        return content

    async def receive(
        self, headers: Mapping[bytes, bytes], receive: Callable[[], Awaitable[Any]]
    ) -> dict[str, Any] | None:
        """Keep what a form uploads; None where the client left before it was all there. Raises Refused."""
        too_large = Refused(413, f"A file can't be larger than {MOST_BYTES} bytes.")
        if int(headers.get(b"content-length", b"0")) > MOST_BYTES + _ENVELOPE:
            raise too_large
        with tempfile.TemporaryFile(dir=self._folder.name) as form:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                form.write(message.get("body", b""))
                if form.tell() > MOST_BYTES + _ENVELOPE:
                    raise too_large
                if not message.get("more_body"):
                    break
            return await asyncio.to_thread(self._unpack, form, headers.get(b"content-type", b"").decode("latin-1"))

    def _unpack(self, form: IO[bytes], content_type: str) -> dict[str, Any]:
        meta = {"CONTENT_TYPE": content_type, "CONTENT_LENGTH": form.tell()}
        form.seek(0)
        path = self.new_path()
        field = _FileField(path)
        try:
            fields, _ = MultiPartParser(meta, cast(Any, form), [field]).parse()
            if not field.size:
                raise Refused(400, "Send a file that is not empty, as a part of the form named file.")
            if fields.get("purpose") != "batch":
                raise Refused(400, "The rehearsal endpoint takes files for batches only: purpose must be batch.")
        except (MultiPartParserError, SuspiciousOperation) as error:
            path.unlink(missing_ok=True)
            raise Refused(400, "The body is not a form with a file.") from error
        except Refused:
            path.unlink(missing_ok=True)
            raise
        return self.add(path, field.name, "batch")

    def contents(self, purpose: str | None = None) -> list[dict[str, Any]]:
        """Return the files, oldest first."""
        return [each for each in list(self._contents.values()) if purpose in (None, each["purpose"])]

    def content(self, id: str) -> dict[str, Any]:
        """Raises Refused."""
        try:
            return self._contents[id]
        except KeyError:
            raise Refused(404, "There is no such file.") from None

    def open(self, id: str) -> IO[bytes]:
        """Raises Refused."""
        return self._path(id).open("rb")

    def parts(self, id: str) -> Iterator[bytes]:
        """Return the file part by part, also if it is deleted meanwhile. Raises Refused."""
        return _parts(self.open(id))

    def delete(self, id: str) -> dict[str, Any]:
        """Raises Refused."""
        path = self._path(id)
        del self._contents[id]
        path.unlink()
        return {"id": id, "object": "file", "deleted": True}

    def _path(self, id: str) -> Path:
        return Path(self._folder.name) / str(self.content(id)["id"])


class _FileField(FileUploadHandler):
    """Writes the form's part named file to a path, and skips other files. size: 0 until it is all there."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self.name = ""
        self.size = 0

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        if field_name != "file" or self.name:
            raise SkipFile
        self.name = file_name
        self.file = self._path.open("wb")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.file.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        self.file.close()
        self.size = file_size


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while part := file.read(_CHUNK):
            yield part
