"""Reports of errors to the collector that SENTRY_DSN names: where in the program it was, and nothing of the data.

An error's message may quote a label or a passage, and so may a variable: neither is sent. What is not named here stays.
"""

from typing import Any

import sentry_sdk
from django.core.exceptions import ImproperlyConfigured
from sentry_sdk.integrations.celery import CeleryIntegration
from sentry_sdk.integrations.django import DjangoIntegration
from sentry_sdk.integrations.logging import LoggingIntegration, ignore_logger
from sentry_sdk.utils import BadDsn

from assessor.runtime.logs import whose

_OF_EVENT = ("event_id", "timestamp", "platform", "level", "logger", "release", "environment", "transaction", "sdk")
_OF_FRAME = ("filename", "function", "module", "lineno", "in_app")
_OURS = ("assessor", "nuggets", "assignment", "support", "metaeval")


def start(dsn: str) -> None:
    """Send reports from now on. Raises ImproperlyConfigured for what is no DSN."""
    try:
        sentry_sdk.init(
            dsn,
            server_name="assay",
            send_default_pii=False,
            max_request_body_size="never",
            include_local_variables=False,
            include_source_context=False,
            max_breadcrumbs=0,
            auto_session_tracking=False,
            send_client_reports=False,
            auto_enabling_integrations=False,
            integrations=[
                DjangoIntegration(transaction_style="function_name", middleware_spans=False, signals_spans=False),
                CeleryIntegration(),
                LoggingIntegration(level=None),
            ],
            before_send=_only_where,  # type: ignore[arg-type]  # the library's own type of an event is a long list
        )
    except BadDsn:
        raise ImproperlyConfigured("SENTRY_DSN is no address of a collector: https://key@host/number.") from None
    # Whoever asks for a host that is not ours has made no error of ours.
    ignore_logger("django.security.DisallowedHost")


def _only_where(event: dict[str, Any], hint: dict[str, Any]) -> dict[str, Any]:
    """Return of an event what tells where in the program it was, and which lines of the log belong to it."""
    kept = {name: event[name] for name in _OF_EVENT if name in event}
    if str(event.get("transaction", "")).startswith("/"):
        del kept["transaction"]  # no view's name, but an address that somebody asked for
    if errors := event.get("exception", {}).get("values"):
        kept["exception"] = {"values": [_without_value(error) for error in errors]}
    if template := event.get("logentry", {}).get("message"):
        # The project's own messages are filled in later; those of others may have been written whole.
        is_ours = str(event.get("logger", "")).partition(".")[0] in _OURS
        kept["logentry"] = {"message": template if is_ours else "An error was logged."}
    tags = whose()
    if (person := tags.pop("person", None)) is not None:
        kept["user"] = {"id": str(person)}
    kept["tags"] = {name: str(value) for name, value in tags.items()}
    return kept


def _without_value(error: dict[str, Any]) -> dict[str, Any]:
    """Return the type of an exception and the places that it came through."""
    frames = (error.get("stacktrace") or {}).get("frames") or []
    places = [{name: frame[name] for name in _OF_FRAME if name in frame} for frame in frames]
    return {"type": error.get("type"), "module": error.get("module"), "stacktrace": {"frames": places}}
