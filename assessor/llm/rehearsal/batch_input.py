"""The requests of a batch, as its input file has them, and what is wrong with the file."""

import json
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from assessor.llm.rehearsal.completions import tokens
from assessor.llm.rehearsal.request import Refused, read_request

ENDPOINT = "/v1/chat/completions"
MOST_REQUESTS = 50_000
_MOST_ERRORS = 100
_MOST_ID = 64
_MOST_LINE = 16 * 1024 * 1024  # bytes


class BatchInput(NamedTuple):
    """What a file holds; errors: as a failed batch lists them."""

    total: int
    model: str | None
    tokens: int
    errors: list[dict[str, Any]]


def read_lines(file: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """Yield the file's lines by their number from 1, None for one that is not JSON, without those that are empty."""
    file.seek(0)
    number = 0
    while line := file.readline(_MOST_LINE):
        number += 1
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            yield number, None


def check_input(file: IO[bytes]) -> BatchInput:
    """Read a file through, up to the first 100 errors."""
    errors: list[dict[str, Any]] = []
    ids: set[str] = set()
    total, sent, model = 0, 0, None
    for number, line in read_lines(file):
        total += 1
        if total > MOST_REQUESTS:
            errors.append(error("too_many_tasks", f"A batch has at most {MOST_REQUESTS} requests.", line=number))
            break
        if found := _error(line, ids, model):
            code, message, param = found
            errors.append(error(code, message, param, number))
            if len(errors) == _MOST_ERRORS:
                break
            continue
        ids.add(line["custom_id"])
        model = line["body"]["model"]
        sent += _tokens(line["body"])
    if not total:
        errors.append(error("empty_batch", "The file has no requests."))
    return BatchInput(total, model, sent, errors)


def error(code: str, message: str, param: str | None = None, line: int | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "param": param, "line": line}


def _error(line: Any, ids: set[str], model: str | None) -> tuple[str, str, str | None] | None:
    if not isinstance(line, dict):
        return "invalid_json_line", "This line is not an object of JSON.", None
    id, body = line.get("custom_id"), line.get("body")
    if not isinstance(id, str) or not 0 < len(id) <= _MOST_ID:
        return "invalid_request", f"There must be a text of 1 to {_MOST_ID} characters.", "custom_id"
    if id in ids:
        return "duplicate_custom_id", "Another line has the same custom_id.", "custom_id"
    if line.get("method") != "POST":
        return "invalid_request", "The method must be POST.", "method"
    if line.get("url") != ENDPOINT:
        return "url_mismatch", f"The url must be {ENDPOINT}.", "url"
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        return "invalid_request", "There must be an object that names a model.", "body"
    if model not in (None, body["model"]):
        return "model_mismatch", "All requests of a batch must name the same model.", "body.model"
    return None


def _tokens(body: dict[str, Any]) -> int:
    try:
        return tokens(read_request(body).characters)
    except Refused:
        return 0
