"""Bodies of requests: files, of any size up to that of an upload, never in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, UnreadablePostError
from ninja.errors import HttpError

from assessor.imports.uploads import new_file

_CHUNK = 1024 * 1024  # bytes


@contextmanager
def body_of(request: HttpRequest) -> Iterator[Path]:
    """Keep a body in a file where uploads lie, which is removed again if nobody takes it. Raises HttpError."""
    length = _length(request)
    path = new_file(".body")
    try:
        if _write(request, path) < length:
            raise HttpError(400, "The file broke off on the way. Nothing of it was kept: send it again.")
        yield path
    finally:
        path.unlink(missing_ok=True)


def _length(request: HttpRequest) -> int:
    told = request.META.get("CONTENT_LENGTH") or ""
    if not told.isdecimal():
        raise HttpError(411, "Say how long the file is (Content-Length), so that one that breaks off is noticed.")
    if int(told) > settings.MAX_UPLOAD_BYTES:
        most = settings.MAX_UPLOAD_BYTES // 1024**2
        raise HttpError(413, f"At most {most} MiB are taken at once; import larger files by command.")
    return int(told)


def _write(request: HttpRequest, path: Path) -> int:
    """Write what comes of a body; return how many bytes that were."""
    with path.open("wb") as file:
        try:
            while chunk := request.read(_CHUNK):
                file.write(chunk)
        except UnreadablePostError:
            pass  # it is too short then
        return file.tell()
