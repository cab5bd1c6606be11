"""The endpoint itself: an ASGI application without a framework, since it shares two cores with what it serves."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from assessor.llm.rehearsal.batches import Batches
from assessor.llm.rehearsal.completions import MARK, Completions, Outcome, refusal
from assessor.llm.rehearsal.files import Files
from assessor.llm.rehearsal.options import Knobs
from assessor.llm.rehearsal.replies import endless, gzip_bomb
from assessor.llm.rehearsal.request import Refused, check_key, read_object, read_request
from assessor.llm.rehearsal.request_log import Journal

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

_DRIP = 0.2  # seconds before each byte


class Response(NamedTuple):
    """What is sent. whole: or only half of what was promised."""

    status: int
    content: object
    headers: Headers = ()
    whole: bool = True

    async def send(self, send: Send, receive: Receive) -> None:
        body = json.dumps(self.content).encode()
        length = (b"content-length", b"%d" % len(body))
        headers = [(b"content-type", b"application/json"), length, *self.headers]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        if self.whole:
            await send({"type": "http.response.body", "body": body})
        else:  # uvicorn closes a connection that is left like that
            await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})


class Stream(NamedTuple):
    """What is sent part by part, each after a pause, until that is all or the client has left."""

    parts: Iterable[bytes]
    pause: float = 0.0  # seconds
    headers: Headers = ()
    status: int = 200
    type: bytes = b"application/json"

    async def send(self, send: Send, receive: Receive) -> None:
        left = asyncio.create_task(_gone(receive, None))
        headers = [(b"content-type", self.type), *self.headers]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        for part in self.parts:
            await asyncio.sleep(self.pause)
            if left.done():
                break
            await send({"type": "http.response.body", "body": part, "more_body": True})
        left.cancel()
        await send({"type": "http.response.body"})


class Endpoint:
    """Answers /v1/models, /v1/chat/completions, /v1/files and /v1/batches."""

    def __init__(self, knobs: Knobs, files: Files) -> None:
        self._knobs = knobs
        self._journal = Journal(knobs.log)
        self._completions = Completions(knobs)
        self._files = files
        self._batches = Batches(knobs, self._completions, files, self._journal)
        self._in_flight = 0

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        route = scope["method"], scope["path"]
        if route == ("POST", "/v1/chat/completions"):
            await self._completion(scope, receive, send)
        elif route == ("GET", "/v1/models"):
            models = [{"id": MARK, "object": "model", "created": 0, "owned_by": "assay"}]
            await Response(200, {"object": "list", "data": models}).send(send, receive)
        elif response := await self._stored(scope, receive):
            await response.send(send, receive)

    async def _stored(self, scope: Any, receive: Receive) -> Response | Stream | None:
        """Return the answer about files and batches, or None where the client left."""
        headers, query = dict(scope["headers"]), parse_qs(scope["query_string"].decode("latin-1"))
        try:
            if self._knobs.require_key:
                check_key(_authorization(headers))
            match [scope["method"], *scope["path"].split("/")[1:]]:
                case ["POST", "v1", "files"]:
                    content = await self._files.receive(headers, receive)
                case ["GET", "v1", "files"]:
                    purpose = query.get("purpose", [None])[0]
                    content = _page(self._files.contents(purpose), query, 10_000, 10_000)
                case ["GET", "v1", "files", id]:
                    content = self._files.content(id)
                case ["GET", "v1", "files", id, "content"]:
                    return Stream(self._files.parts(id), type=b"application/octet-stream")
                case ["DELETE", "v1", "files", id]:
                    content = self._files.delete(id)
                case ["POST", "v1", "batches"]:
                    body = await _body(receive)
                    content = None if body is None else self._batches.create(read_object(body))
                case ["GET", "v1", "batches"]:
                    content = _page(self._batches.contents(), query, 20, 100)
                case ["GET", "v1", "batches", id]:
                    content = self._batches.content(id)
                case ["POST", "v1", "batches", id, "cancel"]:
                    content = self._batches.cancel(id)
                case _:
                    raise Refused(404, "There is nothing at this address.")
        except Refused as refused:
            return self._refusal(refused)
        return None if content is None else Response(200, content)

    async def _completion(self, scope: Any, receive: Receive, send: Send) -> None:
        self._in_flight += 1
        record: dict[str, Any] = {
            "id": self._completions.number(),
            "client": scope["client"][0],
            "start": time.time(),
            "in_flight": self._in_flight,
        }
        response, record["status"] = None, "aborted"  # unless it comes to an end
        try:
            response = await self._response(scope, receive, record)
        finally:
            self._in_flight -= 1
            self._journal.write("end", record | {"end": time.time()})
        if response:  # sent last, so that who has it finds it in the log
            await response.send(send, receive)

    async def _response(self, scope: Any, receive: Receive, record: dict[str, Any]) -> Response | Stream | None:
        """Return what is sent, or None where the client left, and note down in the record what it was."""
        body = await _body(receive)
        if body is None:
            return None
        try:
            if self._knobs.require_key:
                check_key(_authorization(dict(scope["headers"])))
            outcome = self._completions.outcome(read_request(read_object(body)))
        except Refused as refused:
            record |= {"what": "refused", "status": refused.status}
            return self._refusal(refused)
        record |= outcome.record
        self._journal.write("start", {name: value for name, value in record.items() if name != "status"})
        response = await self._befallen(outcome, receive, record)
        if response:
            is_whole = isinstance(response, Response) and response.whole
            record["status"] = response.status if is_whole else outcome.drawn.what
        return response

    async def _befallen(self, outcome: Outcome, receive: Receive, record: dict[str, Any]) -> Response | Stream | None:
        """Let what was drawn happen."""
        drawn, refused = outcome.drawn, refusal(outcome.drawn.what)
        if refused and drawn.what == "rate_limit":  # at once
            return self._refusal(refused)
        if drawn.what == "hang":
            record["status"] = "hung"
            await _gone(receive, None)
            return None
        if drawn.latency and await _gone(receive, drawn.latency):
            return None
        if refused:
            return self._refusal(refused)
        if drawn.what == "endless":
            return Stream(endless())
        if drawn.what == "gzip_bomb":
            return Stream(gzip_bomb(), headers=((b"content-encoding", b"gzip"),))
        content = self._completions.content(outcome, record)
        if drawn.what == "drip":
            text = json.dumps(content).encode()
            return Stream((text[place : place + 1] for place in range(len(text))), _DRIP)
        return Response(200, content, whole=drawn.what != "broken")

    def _refusal(self, refused: Refused) -> Response:
        headers = _wait(self._knobs.retry_after) if refused.status == 429 else ()
        return Response(refused.status, {"error": refused.error}, headers)


def _authorization(headers: dict[bytes, bytes]) -> str:
    return headers.get(b"authorization", b"").decode("latin-1")


def _page(contents: list[dict[str, Any]], query: dict[str, list[str]], usual: int, most: int) -> dict[str, Any]:
    """Return what comes after the id of the query, newest first. Raises Refused."""
    limit, after = query.get("limit", [str(usual)])[0], query.get("after", [None])[0]
    if not limit.isdecimal() or not 1 <= int(limit[:9]) <= most:
        raise Refused(400, f"The limit must be a number from 1 to {most}.")
    ids = [content["id"] for content in contents]
    if after is not None and after not in ids:
        raise Refused(400, "What the list shall go on after was not found.")
    left = contents if after is None else contents[: ids.index(after)]
    page = left[::-1][: int(limit)]
    ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {"first_id": None, "last_id": None}
    return {"object": "list", "data": page, "has_more": len(page) < len(left)} | ends


def _wait(seconds: float) -> Headers:
    """Return how long to wait: whole seconds as HTTP has it, parts of one also as OpenAI writes them."""
    if seconds == int(seconds):
        return ((b"retry-after", b"%d" % int(seconds)),)
    return (b"retry-after", str(seconds).encode()), (b"retry-after-ms", str(seconds * 1000).encode())


async def _body(receive: Receive) -> bytes | None:
    """Return the whole body, or None where the client left before it was all there."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def _gone(receive: Receive, seconds: float | None) -> bool:
    """Wait so long (None: for ever), and return whether the client left meanwhile; then at once."""
    try:
        async with asyncio.timeout(seconds):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True
