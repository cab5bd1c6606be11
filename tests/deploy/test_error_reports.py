"""What a collector gets: a real one of HTTP, on this machine, which keeps what it is sent."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import brotli
import pytest

ROOT = Path(__file__).resolve().parents[2]
LABEL = "cats purr because they are content"
# A page that breaks, a task that breaks, a logged error; each with data in its message and in its variables.
BREAKING = f"""
import logging
import django
django.setup()
from django.test import Client
from django.conf import settings
settings.ALLOWED_HOSTS = ["testserver"]
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
from assessor.celery import app
from django.contrib.auth.decorators import login_not_required
from django.urls import path
from assessor.urls import urlpatterns

def breaks(request, *args, **kwargs):
    label = {LABEL!r}
    raise ValueError("broke at: " + label)

urlpatterns.append(path("breaks/<slug>/", login_not_required(breaks)))
Client(raise_request_exception=False).post("/breaks/secret-study/?q=what-anna-looks-for", {{"password": {LABEL!r}}},
    headers={{"x-request-id": "request-0123456789", "authorization": "Bearer very-secret-token"}})

@app.task
def look(text):
    raise KeyError(text)

look.apply(args=[{LABEL!r}], task_id="the-task")
logging.getLogger("assessor.test").error("job %s broke off: %s", 5, {LABEL!r})
logging.getLogger("asyncio").error("never retrieved: " + {LABEL!r})
import sentry_sdk
sentry_sdk.flush(20)
"""


class Collector(ThreadingHTTPServer):
    """Keeps the bodies that it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if self.headers.get("Content-Encoding") == "br":
            body = brotli.decompress(body)
        self.server.bodies.append(body.decode())
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _run(code: str, tmp_path: Path, dsn: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {
        "ASSAY_SECRET_KEY": "x" * 60,
        "ASSAY_HTTPS": "0",
        "ASSAY_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "assessor.settings",
        "SENTRY_DSN": dsn,
        "no_proxy": "127.0.0.1",
    }
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, timeout=300)


def test_a_report_says_where_and_nothing_of_the_data(collector: Collector, tmp_path: Path):
    done = _run(BREAKING, tmp_path, f"http://the-key@127.0.0.1:{collector.server_port}/7")
    assert done.returncode == 0, done.stderr
    lines = [line for body in collector.bodies for line in body.splitlines()]
    events = {
        tuple(_what(event)): event for line in lines if "event_id" in (event := json.loads(line)) and "level" in event
    }
    page, task = events[("ValueError",)], events[("KeyError",)]
    assert page["transaction"] == "__main__.breaks"
    assert page["tags"]["request"] == "request-0123456789"
    assert page["exception"]["values"][0]["stacktrace"]["frames"][-1]["function"] == "breaks"
    assert (task["tags"]["task"], task["tags"]["task_id"]) == ("assessor.look", "the-task")
    assert events[("job %s broke off: %s",)]["logger"] == "assessor.test"
    assert events[("An error was logged.",)]["logger"] == "asyncio"
    everything = "\n".join(collector.bodies)
    for kept in (
        LABEL,
        "broke at",
        "what-anna-looks-for",
        "very-secret-token",
        "password",
        str(ROOT),
        os.uname().nodename,
    ):
        assert kept not in everything


def _what(event: dict[str, Any]) -> list[str]:
    if "exception" in event:
        return [error["type"] for error in event["exception"]["values"]]
    return [event["logentry"]["message"]]


def test_what_is_no_address_stops_the_start_and_is_not_repeated(tmp_path: Path):
    done = _run("import assessor.settings", tmp_path, "https://sentry.example.org/no-key-secret")
    assert done.returncode == 1
    assert "SENTRY_DSN is no address of a collector" in done.stderr
    assert "no-key-secret" not in done.stderr
