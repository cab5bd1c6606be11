"""Two addresses for whoever watches over the processes: does this one live, and can it serve?

They need no sign-in and no session, and know no host: probes ask a process by its number, over plain HTTP.
"""

import logging
import tempfile
from collections.abc import Callable

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, HttpResponseBase

PATHS = ("/healthz", "/readyz")
_PATIENCE = 2  # seconds for each part
_log = logging.getLogger(__name__)


class Health:
    """Answers /healthz and /readyz. After SecurityMiddleware, which leaves them on http; before all that reads more."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._told = ""  # what was wrong last: said once in the log, not with every probe

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path not in PATHS or request.method not in ("GET", "HEAD"):
            return self.get_response(request)
        request.is_probe = True  # type: ignore[attr-defined]
        wrong = what_fails() if request.path == "/readyz" else []
        text = "\n".join(wrong)
        if text != self._told and request.path == "/readyz":
            self._told = text
            _log.log(logging.ERROR if wrong else logging.INFO, "readiness: %s", "; ".join(wrong) or "ready")
        response = HttpResponse(f"{text or 'ok'}\n", status=503 if wrong else 200, content_type="text/plain")
        response["Cache-Control"] = "no-store"
        return response


def what_fails() -> list[str]:
    """Return what keeps this process from serving, in plain words and without names or secrets; empty: nothing."""
    checks = {
        "database: can't be reached": _reach_database,
        "broker: can't be reached": _reach_broker,
        "data folder: can't be written": _write_to_data_folder,
    }
    wrong = []
    for words, check in checks.items():
        try:
            check()
        except Unready as error:
            wrong.append(str(error))
        except Exception:
            wrong.append(words)
    return wrong


class Unready(Exception):
    """What is wrong, in words of its own."""


def _reach_database() -> None:
    """Look for migrations that are not done, on a connection of its own: the pool's would be waited for too long."""
    own = connection.copy()
    own.settings_dict["OPTIONS"].pop("pool", None)
    if own.vendor == "postgresql":
        own.settings_dict["OPTIONS"]["connect_timeout"] = _PATIENCE
    try:
        executor = MigrationExecutor(own)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise Unready("database: migrations are missing; run migrate")
    finally:
        own.close()


def _reach_broker() -> None:
    from assessor.celery import app

    options = {"socket_connect_timeout": _PATIENCE, "socket_timeout": _PATIENCE}
    with app.connection(connect_timeout=_PATIENCE, transport_options=options) as broker:
        broker.connect()
        broker.default_channel  # noqa: B018  # a server of Redis is asked only now


def _write_to_data_folder() -> None:
    with tempfile.TemporaryFile(dir=settings.DATA_DIR) as file:
        file.write(b"ready")
        file.flush()
