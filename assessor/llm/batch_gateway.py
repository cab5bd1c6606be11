"""A provider's files and batches, through the OpenAI library: asked by who waits for the answer."""

import asyncio
from collections.abc import Awaitable, Iterator
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeVar

from assessor.llm.gateway import Failed, Gateway, Setting, storable

if TYPE_CHECKING:
    from openai.types import Batch as RemoteBatch

_Result = TypeVar("_Result")
_PURPOSE: Final = "batch"
_PATH: Final = "/v1/chat/completions"
_WITHIN: Final = "24h"  # the only time that there is
_OUTPUT_SECONDS = 7 * 24 * 3_600  # after which a provider deletes what it answered, should nobody fetch it
_PART = 65_536  # bytes
_LARGEST_FILE = 8 << 30  # bytes of answers that are fetched
_PAGE, _LOOKED_THROUGH = 100, 1_000  # batches of a provider
_TRANSFER_SECONDS = 3_600.0  # that a file may take
_CONTROL_SECONDS = 120.0  # that all else may take
_LONGEST_MESSAGE = 500  # characters


class Told(NamedTuple):
    """What a provider tells of a batch. ended: requests that are done or failed; code: its word for a failure."""

    remote_id: str
    status: str
    input_file: str
    output_file: str
    error_file: str
    ended: int
    code: str
    message: str


class BatchGateway(Gateway):
    """A Gateway whose methods return when there is an answer, and raise Failed where there is none. Close it."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, 1)
        self._loop = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.run(self.close())
        self._loop.close()

    def upload(self, name: str, content: IO[bytes]) -> str:
        """Send a file of requests; return its id there."""
        made = self._done(
            self._client.files.create(
                file=(name, content),
                purpose=_PURPOSE,
                extra_headers=self._headers,
                timeout=_TRANSFER_SECONDS,
            ),
            _TRANSFER_SECONDS,
        )
        return _word(made.id)

    def create(self, input_file: str, metadata: dict[str, str]) -> Told:
        """Have the requests of a file answered."""
        expires: Any = {"anchor": "created_at", "seconds": _OUTPUT_SECONDS}
        return self._told(
            self._done(
                self._client.batches.create(
                    input_file_id=input_file,
                    endpoint=_PATH,
                    completion_window=_WITHIN,
                    metadata=metadata,
                    output_expires_after=expires,
                    extra_headers=self._headers,
                )
            )
        )

    def retrieve(self, remote_id: str) -> Told:
        return self._told(self._done(self._client.batches.retrieve(remote_id, extra_headers=self._headers)))

    def cancel(self, remote_id: str) -> Told:
        return self._told(self._done(self._client.batches.cancel(remote_id, extra_headers=self._headers)))

    def find(self, key: str, value: str, since: datetime) -> Told | None:
        """Return the batch that has this in its metadata, among the newest and those made since; None for none."""
        after: dict[str, Any] = {}
        for _ in range(_LOOKED_THROUGH // _PAGE):
            page = self._done(self._client.batches.list(limit=_PAGE, extra_headers=self._headers, **after))
            for one in page.data:
                if (one.metadata or {}).get(key) == value:
                    return self._told(one)
            if not page.data or not page.has_more or page.data[-1].created_at < since.timestamp():
                break
            after = {"after": page.data[-1].id}
        return None

    def files_called(self, name: str) -> Iterator[str]:
        """Yield the ids of the files of requests with this name, among the newest."""
        page = self._done(self._client.files.list(purpose=_PURPOSE, limit=_PAGE, extra_headers=self._headers))
        yield from (_word(one.id) for one in page.data if one.filename == name)

    def delete_file(self, file_id: str) -> None:
        """Delete a file. One that is not there any more is no failure."""
        try:
            self._done(self._client.files.delete(file_id, extra_headers=self._headers))
        except Failed as failed:
            if failed.status != 404:
                raise

    def fetch_file(self, file_id: str, into: IO[bytes]) -> None:
        """Write a file's content into another one, part by part."""
        self._done(self._fetch(file_id, into), _TRANSFER_SECONDS)

    async def _fetch(self, file_id: str, into: IO[bytes]) -> None:
        headers = {**self._headers, "Accept-Encoding": "identity"}
        size = 0
        async with self._client.with_streaming_response.files.content(file_id, extra_headers=headers) as response:
            async for part in response.iter_bytes(_PART):
                size += len(part)
                if size > _LARGEST_FILE:
                    raise Failed(f"A file of answers is larger than {_LARGEST_FILE >> 30} GiB.", 0, status=200)
                into.write(part)

    def _told(self, batch: "RemoteBatch") -> Told:
        """Return what counts of a batch; an empty name of a file is none."""
        errors = (batch.errors.data if batch.errors else None) or []
        counts = batch.request_counts
        return Told(
            _word(batch.id),
            _word(batch.status)[:20],
            _word(batch.input_file_id),
            _word(batch.output_file_id),
            _word(batch.error_file_id),
            (counts.completed or 0) + (counts.failed or 0) if counts else 0,
            _word(errors[0].code if errors else "")[:100],
            self._clean("; ".join(str(one.message) for one in errors[:3]))[:_LONGEST_MESSAGE],
        )

    def _done(self, asked: Awaitable[_Result], seconds: float = _CONTROL_SECONDS) -> _Result:
        return self._loop.run(self._in_time(asked, seconds))


def _word(text: Any) -> str:
    """Return an id or a word of a provider, no longer than there is room for."""
    return storable(text)[:200] if isinstance(text, str) else ""
