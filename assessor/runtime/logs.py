"""What is logged: an event a line, as JSON or for reading, with whose it is, and without secrets.

Nothing here needs Django's settings: gunicorn's own process, which has none, writes its lines the same way.
"""

import json
import logging
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.functional import SimpleLazyObject

from assessor.runtime.secrets_filter import scrub

_LONGEST = 20_000  # characters of a message or a traceback
_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_about: ContextVar[dict[str, Any] | None] = ContextVar("about", default=None)
_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)
_requests = logging.getLogger("assessor.requests")


@contextmanager
def about(**told: Any) -> Iterator[None]:
    """Have each line that is logged inside say what it is about: job=5, call="3f0a…"."""
    token = _about.set((_about.get() or {}) | told)
    try:
        yield
    finally:
        _about.reset(token)


def person_of(request: HttpRequest) -> int | None:
    """Return the key of who asks, if that was found out already: logging reads nothing from the database."""
    token = getattr(request, "auth", None)  # of the API
    if token is not None:
        return getattr(token, "person_id", None)
    user = vars(request).get("user")
    if isinstance(user, SimpleLazyObject):
        user = vars(request).get("_cached_user")
    return getattr(user, "pk", None)


def whose() -> dict[str, Any]:
    """Return what is known of the work that logs: the request and who asks, the task, the job, the call."""
    told: dict[str, Any] = {}
    if request := _request.get():
        told["request"] = request.request_id  # type: ignore[attr-defined]  # RequestLog gave it
        if (person := person_of(request)) is not None:
            told["person"] = person
    # Where nobody loaded Celery, nothing is a task's.
    if (celery := sys.modules.get("celery")) and (task := celery.current_task) and task.request.id:
        told |= {"task": task.name, "task_id": task.request.id}
    return told | (_about.get() or {})


class Json(logging.Formatter):
    """An event as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = {"at": at, "level": record.levelname, "logger": record.name, "message": record.getMessage()}
        told |= whose() | getattr(record, "told", {})
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return json.dumps(
            {name: scrub(value)[:_LONGEST] if isinstance(value, str) else value for name, value in told.items()},
            ensure_ascii=False,
            default=str,
        )


class Lines(logging.Formatter):
    """An event for reading: one line, and a traceback below it."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(sep=" ", timespec="milliseconds")[:-6]
        told = " ".join(f"{name}={value}" for name, value in whose().items())
        line = f"{at} {record.levelname} {record.name} {record.getMessage()} {told}".rstrip()
        # Nobody can write a line of another's with what they send.
        line = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", scrub(line)[:_LONGEST])
        return f"{line}\n{scrub(self.formatException(record.exc_info))[:_LONGEST]}" if record.exc_info else line


def configuration(form: str, *, requests: bool = True) -> dict[str, Any]:
    """Return what logging.config.dictConfig takes. form: json or lines; requests: a line for each of them."""
    quiet = {
        # A line for each request to a model says nothing that the ledger does not.
        **dict.fromkeys(("httpx2", "openai"), "WARNING"),
        # That a page was not found or refused, the request's own line says.
        "django.request": "ERROR",
        # Every 15 seconds a task is due, and received.
        **dict.fromkeys(("celery.beat", "celery.worker.strategy"), "WARNING"),
        "kombu.connection": "ERROR",  # the embedded broker has no host to name
        "assessor.requests": "INFO" if requests else "WARNING",
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": Json}, "lines": {"()": Lines}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": form}},
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {name: {"level": level} for name, level in quiet.items()},
    }


def new_id() -> str:
    """Return an id for a request."""
    return uuid.uuid4().hex


class RequestLog:
    """Gives each request an id, which comes back in X-Request-ID, and logs a line for it. First of the middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        request_id = given if _GIVEN_ID.fullmatch(given) else new_id()
        request.request_id = request_id  # type: ignore[attr-defined]
        token = _request.set(request)
        begun = time.monotonic()
        try:
            response = self.get_response(request)
            response["X-Request-ID"] = request_id
            if not getattr(request, "is_probe", False):
                # Until the response begins: what is streamed goes on after that.
                milliseconds = round((time.monotonic() - begun) * 1000)
                told = {"method": request.method, "path": request.path, "status": response.status_code}
                line = "%s %s %s %s ms"
                extra = {"told": told | {"ms": milliseconds}}
                _requests.info(line, *told.values(), milliseconds, extra=extra)
            return response
        finally:
            _request.reset(token)
