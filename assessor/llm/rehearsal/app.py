"""The endpoint itself, as an ASGI application."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

from assessor.llm.rehearsal import writing
from assessor.llm.rehearsal.answers import answer
from assessor.llm.rehearsal.asked import Asked, asked
from assessor.llm.rehearsal.fate import Fate, Fates
from assessor.llm.rehearsal.journal import Journal
from assessor.llm.rehearsal.knobs import Knobs

NO_MODEL = "no-such-model"  # the one that it hasn't got
FINGERPRINT = "rehearsal"  # stands in each response, so that nobody takes it for a model's
_MOST_BYTES = 8 * 1024 * 1024
_LONGEST_HANG = 3_600.0  # seconds

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Refused(Exception):
    """The request can't be answered; as OpenAI says it."""

    def __init__(self, status: int, message: str, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class App:
    """Answers POST /v1/chat/completions and GET /v1/models."""

    def __init__(self, knobs: Knobs) -> None:
        self._knobs = knobs
        self._fates = Fates(knobs)
        self._journal = Journal(knobs.log)
        self._number = 0

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            if (scope["method"], scope["path"]) == ("GET", "/v1/models"):
                await _send(send, 200, {"object": "list", "data": [{"id": "rehearsal", "object": "model"}]})
                return
            if (scope["method"], scope["path"]) != ("POST", "/v1/chat/completions"):
                raise Refused(404, f"There is nothing at {scope['method']} {scope['path']}.", "not_found")
            if self._knobs.require_key and not _has_key(scope):
                raise Refused(401, "The request has no key.", "invalid_api_key")
            request = _request(await _body(receive))
        except Refused as error:
            await _send_error(send, error)
            return
        await self._answer(request, receive, send)

    async def _answer(self, request: dict[str, Any], receive: Receive, send: Send) -> None:
        digest = hashlib.sha256(json.dumps(request, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        question = _question(request)
        entry = self._journal.begin(digest, question.question if question else "", len(request["messages"]))
        fate = self._fates.draw(digest)
        status: int | str = "aborted"
        try:
            status = await self._let_happen(fate, request, question, receive, send)
        except Refused as error:
            status = error.status
            await _send_error(send, error)
        finally:
            self._journal.end(entry, status, fate.trouble or "ok")

    async def _let_happen(
        self, fate: Fate, request: dict[str, Any], question: Asked | None, receive: Receive, send: Send
    ) -> int | str:
        """Answer a request as its fate is; return how it ended."""
        if fate.trouble == "rate_limit":
            headers = [(b"retry-after", str(self._knobs.retry_after).encode())]
            headers.append((b"retry-after-ms", str(int(self._knobs.retry_after * 1000)).encode()))
            await _send_error(send, Refused(429, "Too many requests.", "rate_limit_exceeded"), headers)
            return 429
        if fate.trouble == "hang":
            await _gone(receive)
            return "hung"
        pause = self._knobs.latency + self._knobs.jitter * (fate.draw % 1000) / 1000
        if pause:
            await asyncio.sleep(pause)
        if fate.trouble == "failure":
            raise Refused(500, "The server had an error.", "server_error")
        if question is None:
            raise Refused(400, "The prompt is none of this project's.", "invalid_request_error")
        completion = self._completion(request, _text(request, question, fate))
        if fate.trouble == "broken":
            await _send_half(send, completion)
            return "broken"
        await _send(send, 200, completion)
        return 200

    def _completion(self, request: dict[str, Any], text: str) -> dict[str, Any]:
        self._number += 1
        sent = sum(len(str(message.get("content") or "")) for message in request["messages"])
        tokens_in, tokens_out = max(1, sent // 4), max(1, len(text) // 4)
        return {
            "id": f"rehearsal-{self._number}",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "system_fingerprint": FINGERPRINT,
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}},
            ],
            "usage": {
                "prompt_tokens": tokens_in,
                "completion_tokens": tokens_out,
                "total_tokens": tokens_in + tokens_out,
            },
        }


def _text(request: dict[str, Any], question: Asked, fate: Fate) -> str:
    value = answer(question)
    if fate.trouble == "garbage":
        return writing.garbage(fate.draw)
    if fate.trouble == "fenced":
        return writing.otherwise(value, question.question, fate.draw)
    if fate.trouble == "short":
        value = writing.too_short(value)
    elif fate.trouble == "wrong_label":
        value = writing.outside(value, question.question, fate.draw)
    schema = (request.get("response_format") or {}).get("json_schema")
    if schema:
        return writing.structured(value, next(iter(schema["schema"]["properties"])))
    return writing.plainly(value, question.question)


def _request(body: bytes) -> dict[str, Any]:
    """Return a request that can be answered. Raises Refused."""
    try:
        request = json.loads(body)
        is_whole = isinstance(request["model"], str) and all(
            isinstance(message["content"], str) and isinstance(message["role"], str) for message in request["messages"]
        )
        schema = (request.get("response_format") or {}).get("json_schema")
        if not is_whole or not request["messages"] or (schema and not schema["schema"]["properties"]):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refused(
            400, "The request is no chat completion with model and messages.", "invalid_request_error"
        ) from None
    if request["model"] == NO_MODEL:
        raise Refused(404, f"The model {NO_MODEL} does not exist.", "model_not_found")
    if request.get("stream"):
        raise Refused(400, "Streams are not rehearsed.", "invalid_request_error")
    return dict(request)


def _question(request: dict[str, Any]) -> Asked | None:
    """Return what the first message of a person asks: what comes later says why an answer was wrong."""
    first = next((message["content"] for message in request["messages"] if message["role"] == "user"), "")
    return asked(first)


def _has_key(scope: dict[str, Any]) -> bool:
    value: bytes = dict(scope["headers"]).get(b"authorization", b"")
    return value.startswith(b"Bearer ") and value != b"Bearer none" and len(value) > len(b"Bearer ")


async def _body(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _MOST_BYTES:
            raise Refused(413, "The request is too long.", "invalid_request_error")
        if not message.get("more_body"):
            return body


async def _gone(receive: Receive) -> None:
    """Wait until the client has gone."""
    try:
        async with asyncio.timeout(_LONGEST_HANG):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return


async def _send(
    send: Send, status: int, body: dict[str, Any], headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    data = json.dumps(body).encode()
    every = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode()), *(headers or [])]
    await send({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": data})


async def _send_error(send: Send, error: Refused, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    told = {"message": str(error), "type": "error", "param": None, "code": error.code}
    await _send(send, error.status, {"error": told}, headers)


async def _send_half(send: Send, body: dict[str, Any]) -> None:
    """Promise a whole answer, send half of it and hang up."""
    data = json.dumps(body).encode()
    length = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": data[: len(data) // 2], "more_body": True})
    await send({"type": "http.response.body", "body": b""})
