"""What is logged, as the formatters of a deployment write it."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.test.client import RequestFactory

from assessor.accounts.actions import make_link
from assessor.accounts.models import Person
from assessor.api.actions import create_token
from assessor.runtime import logs
from tests.conftest import client_of

ROOT = Path(__file__).resolve().parents[2]


class Written:
    """What a handler of either form wrote."""

    def __init__(self, formatter: logging.Formatter) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.setFormatter(formatter)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


def _listening(formatter: logging.Formatter) -> Iterator[Written]:
    written, root = Written(formatter), logging.getLogger()
    level = root.level
    root.addHandler(written.handler)
    root.setLevel(logging.INFO)
    yield written
    root.removeHandler(written.handler)
    root.setLevel(level)


@pytest.fixture(autouse=True)
def _requests_of_one_id() -> None:
    """Not here: each has its own, as in earnest."""


@pytest.fixture
def as_json() -> Iterator[Written]:
    yield from _listening(logs.Json())


@pytest.fixture
def as_lines() -> Iterator[Written]:
    yield from _listening(logs.Lines())


def test_a_request_is_one_line_with_who_asked_and_no_query(anna: Person, as_json: Written):
    answer = client_of(anna).get("/?q=what-anna-looks-for", headers={"x-request-id": "proxy-0123456789"})
    [event] = [event for event in as_json.events if event["logger"] == "assessor.requests"]
    assert answer["X-Request-ID"] == event["request"] == "proxy-0123456789"
    assert (event["method"], event["path"], event["status"], event["person"]) == ("GET", "/", 200, anna.pk)
    assert isinstance(event["ms"], int)
    assert "what-anna-looks-for" not in as_json.text
    assert "anna" not in as_json.text


@pytest.mark.parametrize("odd", ["short", "with blanks in it", "x" * 65, 'a"b"c"d"e"f', "ünïcödé-0123"])
def test_an_odd_request_id_is_not_taken(client: Client, odd: str, as_json: Written):
    made = client.get("/healthz", headers={"x-request-id": odd})["X-Request-ID"]
    assert made != odd
    assert len(made) == 32
    assert client.get("/healthz")["X-Request-ID"] != made


@pytest.mark.django_db
def test_a_request_of_a_script_is_its_persons(olga: Person, as_json: Written):
    secret = create_token(person=olga, name="notebook", expires_at=None, acting_user=olga).secret
    Client().get("/api/v1/campaigns", headers={"authorization": f"Bearer {secret}"})
    [event] = [event for event in as_json.events if event["logger"] == "assessor.requests"]
    assert (event["status"], event["person"]) == (200, olga.pk)
    assert secret not in as_json.text


@pytest.mark.django_db
def test_a_wrong_password_is_in_no_line(client: Client, as_json: Written):
    client.post("/login/", {"username": "anna", "password": "horse battery staple"})
    [event] = [event for event in as_json.events if event["logger"] == "assessor.requests"]
    assert event["status"] == 200
    assert "person" not in event
    assert "horse battery" not in as_json.text


@pytest.mark.django_db
@pytest.mark.parametrize("written", ["as_json", "as_lines"])
def test_a_one_time_link_is_in_no_line(anna: Person, written: str, request: pytest.FixtureRequest):
    lines = request.getfixturevalue(written)
    address = make_link(person=anna, acting_user=None, site="").address
    assert Client().get(address).status_code == 302
    assert "/password/link/" in lines.text
    assert address.split("/")[-2] not in lines.text


def test_an_error_has_its_traceback_and_its_request(as_json: Written):
    def fails(request: Any) -> Any:
        try:
            raise ValueError("postgres://assay:geheim123@db/assay is gone")
        except ValueError:
            logging.getLogger("assessor.test").exception("it broke")
        raise RuntimeError

    request = RequestFactory().get("/x", headers={"x-request-id": "0123456789"})
    with pytest.raises(RuntimeError):
        logs.RequestLog(fails)(request)
    [event] = as_json.events
    assert event["request"] == "0123456789"
    assert "ValueError: postgres://[hidden]@db/assay is gone" in event["traceback"]
    assert "geheim123" not in as_json.text
    # Nothing of it stays for the next request of the same thread.
    assert logs.whose() == {}


def test_what_a_line_is_about(as_json: Written):
    with logs.about(job=5), logs.about(call="3f0a"):
        logging.getLogger("assessor.test").warning("again")
    logging.getLogger("assessor.test").warning("after")
    during, after = as_json.events
    assert (during["job"], during["call"]) == (5, "3f0a")
    assert "job" not in after


def test_lines_for_reading(as_lines: Written):
    with logs.about(job=5):
        logging.getLogger("assessor.test").warning("found %s", "x\n2026-11-22 INFO forged\x1b[2J\u2028")
    assert as_lines.text.endswith(" WARNING assessor.test found x\\x0a2026-11-22 INFO forged\\x1b[2J\\x2028 job=5\n")
    assert as_lines.text.count("\n") == 1


TASK = """
import logging
from assessor.celery import app
app.log.setup("INFO")

@app.task
def look():
    logging.getLogger("assessor.test").warning("key %s", "sk-1234567890abcdef")
    logging.getLogger("assessor.test").warning("password %s", "correct-horse/battery")

look.apply(task_id="the-task")
"""


def test_a_worker_writes_its_lines_the_same_way(tmp_path: Path):
    env = os.environ | {
        "ASSAY_SECRET_KEY": "x" * 60,
        "ASSAY_DATA_DIR": str(tmp_path),
        "ASSAY_LOG": "json",
        "CELERY_BROKER_URL": "amqp://assay:correct-horse%2Fbattery@127.0.0.1:1//",
    }
    done = subprocess.run([sys.executable, "-c", TASK], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    events = [json.loads(line) for line in done.stderr.splitlines()]
    ours = [event for event in events if event["logger"] == "assessor.test"]
    assert [event["message"] for event in ours] == ["key [hidden]", "password [hidden]"]
    assert {(event["task"], event["task_id"]) for event in ours} == {("assessor.look", "the-task")}
