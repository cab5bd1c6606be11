"""What a request for a completion is answered, live or in a batch."""

import math
import threading
from collections import Counter
from typing import Any, NamedTuple

from assessor.llm.rehearsal.options import Knobs
from assessor.llm.rehearsal.outcomes import Fate, changed, fate, flipped
from assessor.llm.rehearsal.recognition import Answer, Recognition
from assessor.llm.rehearsal.replies import reply
from assessor.llm.rehearsal.request import Refused, Request

MARK = "rehearsal"  # in every reply, so that nobody takes it for a model's


class Outcome(NamedTuple):
    """What was drawn for a request, and the right answer to it, or None where it is no prompt."""

    request: Request
    drawn: Fate
    answer: Answer | None

    @property
    def record(self) -> dict[str, Any]:
        """What the log says of it."""
        return {
            "request": self.request.sha256,
            "prompt": self.answer.prompt.name if self.answer else "",
            "conversation": len(self.request.messages),
            "what": self.drawn.what,
        }


class Completions:
    """Draws what happens to requests and writes their answers. Threads of batches use it beside the endpoint."""

    def __init__(self, knobs: Knobs) -> None:
        self._knobs = knobs
        self._recognition = Recognition()
        self._lock = threading.Lock()
        self._seen: Counter[str] = Counter()  # how often a request came, by its hash
        self._begun = 0

    def number(self) -> int:
        """Return the number of a request that begins."""
        with self._lock:
            self._begun += 1
            return self._begun

    def outcome(self, request: Request) -> Outcome:
        with self._lock:
            seen = self._seen[request.sha256]
            self._seen[request.sha256] += 1
        drawn = fate(self._knobs, request.sha256, seen)
        answer = self._recognition.answer(request.messages)
        return Outcome(request, drawn, flipped(self._knobs, answer, request.sha256, seen))

    def content(self, outcome: Outcome, record: dict[str, Any]) -> dict[str, Any]:
        """Return the completion, and note down in the record what it is."""
        request, answer = outcome.request, outcome.answer
        if 0 < self._knobs.drift_after < record["id"]:
            answer = changed(answer, self._knobs.drift, str(self._knobs.seed), "drift", request.sha256)
        text, record["what"] = reply(answer, request.key, outcome.drawn)
        if 0 < self._knobs.renamed_after < record["id"]:
            request = request._replace(model=f"{request.model}-next")
        return _content(request, text, int(record["start"]))


def refusal(what: str) -> Refused | None:
    """Return the refusal that was drawn, if it was one."""
    if what == "rate_limit":
        return Refused(429, "Too many requests for a rehearsal.", "rate_limit_exceeded", "requests")
    if what == "failure":
        return Refused(500, "A rehearsed failure.", None, "server_error")
    return None


def tokens(characters: int) -> int:
    return math.ceil(characters / 4)


def _content(request: Request, text: str, created: int) -> dict[str, Any]:
    most = 4 * request.most_tokens if request.most_tokens else len(text)
    tokens_in, tokens_out = tokens(request.characters), tokens(len(text[:most]))
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
        "system_fingerprint": MARK,
        "choices": [choice],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }
