"""A request as it came, and its refusals in the shape that OpenAI gives them."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

_UNKNOWN_MODEL = "no-such-model"


class Refused(Exception):
    """The request gets an error of this status."""

    def __init__(self, status: int, message: str, code: str | None = None, type: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status = status
        self.error = {"message": message, "type": type, "param": None, "code": code}


class Request(NamedTuple):
    """sha256: of the content, however its keys were ordered; key: of the object that a schema asks for, or empty."""

    sha256: str
    model: str
    messages: list[Mapping[str, str]]
    key: str
    most_tokens: int | None

    @property
    def characters(self) -> int:
        return sum(len(message["content"]) for message in self.messages)


def check_key(authorization: str) -> None:
    """Raises Refused."""
    scheme, _, key = authorization.partition(" ")
    if not (scheme.lower() == "bearer" and key.strip()):
        raise Refused(401, "Send a key, as Authorization: Bearer.", "invalid_api_key")


def read_object(body: bytes) -> dict[str, Any]:
    """Read an object of JSON. Raises Refused."""
    try:
        content: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "The body is not JSON.") from error
    if not isinstance(content, dict):
        raise Refused(400, "The body must be an object.")
    return content


def read_request(content: Mapping[str, Any]) -> Request:
    """Read a request for a completion. Raises Refused."""
    model, messages = content.get("model"), _messages(content.get("messages"))
    if not isinstance(model, str) or not model:
        raise Refused(400, "Name a model.")
    if model.startswith(_UNKNOWN_MODEL):
        raise Refused(404, "There is no such model.", "model_not_found")
    if content.get("stream"):
        raise Refused(400, "The rehearsal endpoint does not stream.", "unsupported_value")
    most_tokens = content.get("max_completion_tokens", content.get("max_tokens"))
    if most_tokens is not None and (type(most_tokens) is not int or most_tokens < 1):
        raise Refused(400, "The most tokens must be a number of 1 or more.")
    return Request(
        sha256=hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest(),
        model=model,
        messages=messages,
        key=_schema_key(content.get("response_format")),
        most_tokens=most_tokens,
    )


def _messages(value: Any) -> list[Mapping[str, str]]:
    if not isinstance(value, list) or not value:
        raise Refused(400, "There must be messages.")
    for message in value:
        if not isinstance(message, dict) or message.get("role") not in ("system", "developer", "user", "assistant"):
            raise Refused(400, "A message must have a role: system, developer, user or assistant.")
        if not isinstance(message.get("content"), str):
            raise Refused(400, "The content of a message must be a text.")
    return value


def _schema_key(response_format: Any) -> str:
    """Return the only property of the schema that the answer must follow; nothing of several, and without a schema."""
    if response_format in (None, {"type": "text"}):
        return ""
    try:
        if response_format["type"] == "json_schema":
            first, *others = response_format["json_schema"]["schema"]["properties"]
            return "" if others else str(first)
    except (TypeError, KeyError, ValueError):
        pass
    raise Refused(400, "The response format must be a json_schema of an object with properties.")
