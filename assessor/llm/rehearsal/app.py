"""The endpoint itself: an ASGI application without a framework, since it shares two cores with what it serves."""

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

from assessor.llm.rehearsal.options import Knobs
from assessor.llm.rehearsal.outcomes import Fate, fate
from assessor.llm.rehearsal.recognition import Answer, Recognition
from assessor.llm.rehearsal.replies import endless, gzip_bomb, reply
from assessor.llm.rehearsal.request import Refused, Request, read_request
from assessor.llm.rehearsal.request_log import Journal

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

_DRIP = 0.2  # seconds before each byte
_MARK = "rehearsal"  # in every reply, so that nobody takes it for a model's


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

    async def send(self, send: Send, receive: Receive) -> None:
        left = asyncio.create_task(_gone(receive, None))
        headers = [(b"content-type", b"application/json"), *self.headers]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        for part in self.parts:
            await asyncio.sleep(self.pause)
            if left.done():
                break
            await send({"type": "http.response.body", "body": part, "more_body": True})
        left.cancel()
        await send({"type": "http.response.body"})


class Endpoint:
    """Answers GET /v1/models and POST /v1/chat/completions."""

    def __init__(self, knobs: Knobs) -> None:
        self._knobs = knobs
        self._journal = Journal(knobs.log)
        self._recognition = Recognition()
        self._seen: Counter[str] = Counter()  # how often a request came, by its hash
        self._in_flight = 0
        self._begun = 0

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        route = scope["method"], scope["path"]
        if route == ("POST", "/v1/chat/completions"):
            await self._completion(scope, receive, send)
        elif route == ("GET", "/v1/models"):
            models = [{"id": _MARK, "object": "model", "created": 0, "owned_by": "assay"}]
            await Response(200, {"object": "list", "data": models}).send(send, receive)
        else:
            await _refusal(Refused(404, "There is nothing at this address.")).send(send, receive)

    async def _completion(self, scope: Any, receive: Receive, send: Send) -> None:
        self._begun += 1
        self._in_flight += 1
        record: dict[str, Any] = {"id": self._begun, "start": time.time(), "in_flight": self._in_flight}
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
        authorization = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
        try:
            request = read_request(body, authorization, require_key=self._knobs.require_key)
        except Refused as refusal:
            record |= {"what": "refused", "status": refusal.status}
            return _refusal(refusal)
        drawn = fate(self._knobs, request.sha256, self._seen[request.sha256])
        self._seen[request.sha256] += 1
        answer = self._recognition.answer(request.messages)
        record |= {
            "request": request.sha256,
            "prompt": answer.prompt.name if answer else "",
            "conversation": len(request.messages),
            "what": drawn.what,
        }
        self._journal.write("start", {name: value for name, value in record.items() if name != "status"})
        response = await self._befallen(request, answer, drawn, receive, record)
        if response:
            is_whole = isinstance(response, Response) and response.whole
            record["status"] = response.status if is_whole else drawn.what
        return response

    async def _befallen(
        self, request: Request, answer: Answer | None, drawn: Fate, receive: Receive, record: dict[str, Any]
    ) -> Response | Stream | None:
        """Let what was drawn happen."""
        if drawn.what == "rate_limit":
            refused = Refused(429, "Too many requests for a rehearsal.", "rate_limit_exceeded", "requests")
            return _refusal(refused, _wait(self._knobs.retry_after))
        if drawn.what == "hang":
            record["status"] = "hung"
            await _gone(receive, None)
            return None
        if drawn.latency and await _gone(receive, drawn.latency):
            return None
        if drawn.what == "failure":
            return _refusal(Refused(500, "A rehearsed failure.", None, "server_error"))
        if drawn.what == "endless":
            return Stream(endless())
        if drawn.what == "gzip_bomb":
            return Stream(gzip_bomb(), headers=((b"content-encoding", b"gzip"),))
        text, record["what"] = reply(answer, request.key, drawn)
        if 0 < self._knobs.renamed_after < record["id"]:
            request = request._replace(model=f"{request.model}-next")
        if drawn.what == "drip":
            content = json.dumps(_content(request, text, int(record["start"]))).encode()
            return Stream((content[place : place + 1] for place in range(len(content))), _DRIP)
        return Response(200, _content(request, text, int(record["start"])), whole=drawn.what != "broken")


def _refusal(refused: Refused, headers: Headers = ()) -> Response:
    return Response(refused.status, {"error": refused.error}, headers)


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
