"""The endpoint itself: an ASGI application without a framework, since it shares two cores with what it serves."""

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from assessor.llm.rehearsal.fate import Fate, fate
from assessor.llm.rehearsal.journal import Journal
from assessor.llm.rehearsal.knobs import Knobs
from assessor.llm.rehearsal.request import Refused, Request, read_request
from assessor.llm.rehearsal.writing import reply

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

_MARK = "rehearsal"  # in every reply, so that nobody takes it for a model's


class Endpoint:
    """Answers GET /v1/models and POST /v1/chat/completions."""

    def __init__(self, knobs: Knobs) -> None:
        self._knobs = knobs
        self._journal = Journal(knobs.log)
        self._seen: Counter[str] = Counter()  # how often a request came, by its hash
        self._in_flight = 0
        self._begun = 0

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        route = scope["method"], scope["path"]
        if route == ("POST", "/v1/chat/completions"):
            await self._completion(scope, receive, send)
        elif route == ("GET", "/v1/models"):
            models = [{"id": _MARK, "object": "model", "created": 0, "owned_by": "assay"}]
            await _send(send, 200, {"object": "list", "data": models})
        else:
            await _send(send, 404, {"error": Refused(404, "There is nothing at this address.").error})

    async def _completion(self, scope: Any, receive: Receive, send: Send) -> None:
        self._begun += 1
        self._in_flight += 1
        record: dict[str, Any] = {"id": self._begun, "start": time.time(), "in_flight": self._in_flight}
        status: int | str = "aborted"  # unless it comes to an end
        try:
            status = await self._answered(scope, receive, send, record)
        finally:
            self._in_flight -= 1
            self._journal.write("end", record | {"end": time.time(), "status": status})

    async def _answered(self, scope: Any, receive: Receive, send: Send, record: dict[str, Any]) -> int | str:
        """Answer a request, note down in the record what it was, and return its status."""
        body = await _body(receive)
        if body is None:
            return "aborted"
        authorization = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
        try:
            request = read_request(body, authorization, require_key=self._knobs.require_key)
        except Refused as refusal:
            record["what"] = "refused"
            await _send(send, refusal.status, {"error": refusal.error})
            return refusal.status
        drawn = fate(self._knobs, request.sha256, self._seen[request.sha256])
        self._seen[request.sha256] += 1
        record["request"] = request.sha256
        record["question"] = request.asked.question if request.asked else ""
        record["conversation"] = len(request.messages)
        record["what"] = drawn.what
        self._journal.write("start", record)
        return await self._befallen(request, drawn, receive, send, record)

    async def _befallen(
        self, request: Request, drawn: Fate, receive: Receive, send: Send, record: dict[str, Any]
    ) -> int | str:
        """Let what was drawn happen, and return the status."""
        if drawn.what == "rate_limit":
            limit = Refused(429, "Too many requests for a rehearsal.", "rate_limit_exceeded", "requests")
            await _send(send, 429, {"error": limit.error}, _wait(self._knobs.retry_after))
            return 429
        if drawn.what == "hang":
            await _gone(receive, None)
            return "hung"
        if drawn.latency and await _gone(receive, drawn.latency):
            return "aborted"
        if drawn.what == "failure":
            await _send(send, 500, {"error": Refused(500, "A rehearsed failure.", None, "server_error").error})
            return 500
        text, record["what"] = reply(request, drawn)
        content = _content(request, text, int(record["start"]))
        if drawn.what == "broken":
            await _send_half(send, content)
            return "broken"
        await _send(send, 200, content)
        return 200


def _content(request: Request, text: str, created: int) -> dict[str, Any]:
    most = 4 * request.most_tokens if request.most_tokens else len(text)
    tokens_in, tokens_out = _tokens(request.characters), _tokens(len(text[:most]))
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text[:most], "refusal": None},
        "logprobs": None,
        "finish_reason": "length" if len(text) > most else "stop",
    }
    return {
        "id": f"chatcmpl-{request.sha256[:24]}",
        "object": "chat.completion",
        "created": created,
        "model": request.model,
        "system_fingerprint": _MARK,
        "choices": [choice],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }


def _tokens(characters: int) -> int:
    return math.ceil(characters / 4)


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


async def _send(send: Send, status: int, content: object, more: Headers = ()) -> None:
    body = json.dumps(content).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _send_half(send: Send, content: object) -> None:
    """Promise the whole and send half of it: uvicorn closes a connection that is left like that."""
    body = json.dumps(content).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
