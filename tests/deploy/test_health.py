"""The two addresses for probes: what they say, to whom, and what they leave alone."""

import logging
from typing import Any

import pytest
from celery import current_app
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client


@pytest.fixture
def broker(tmp_path, monkeypatch) -> None:
    """A broker that is there: the embedded one."""
    monkeypatch.setattr(current_app.conf, "broker_url", "embedded://")


def test_a_process_that_lives_says_so_without_the_database(client: Client, settings: Any):
    settings.SECURE_SSL_REDIRECT = True
    # No mark django_db: a query would fail the test. The host is none of ours, as a probe's is.
    answer = client.get("/healthz", headers={"host": "10.0.0.7:8000"})
    assert (answer.status_code, answer.content) == (200, b"ok\n")
    assert answer["Cache-Control"] == "no-store"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert not answer.cookies


def test_other_pages_go_to_https(client: Client, settings: Any):
    settings.SECURE_SSL_REDIRECT = True
    for path in ("/healthz/", "/readyz/x", "/login/"):
        assert client.get(path).status_code == 301


@pytest.mark.django_db
def test_who_is_ready_says_so(client: Client, settings: Any, broker: None):
    settings.SECURE_SSL_REDIRECT = True
    answer = client.get("/readyz", headers={"host": "10.0.0.7:8000"})
    assert (answer.status_code, answer.content) == (200, b"ok\n")
    assert not answer.cookies


@pytest.mark.django_db
def test_a_database_that_is_gone(client: Client, broker: None, monkeypatch, tmp_path):
    if connection.vendor == "postgresql":
        changed = {"HOST": "127.0.0.1", "PORT": "1"}
    else:
        changed = {"NAME": str(tmp_path / "nowhere" / "x.sqlite3")}
    for name, value in changed.items():
        monkeypatch.setitem(connection.settings_dict, name, value)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.content) == (503, b"database: can't be reached\n")


@pytest.mark.django_db
def test_migrations_that_are_missing(client: Client, broker: None, monkeypatch):
    done = MigrationRecorder.applied_migrations

    def all_but_one(self: MigrationRecorder) -> Any:
        applied = done(self)
        last = max(key for key in applied if key[0] == "campaigns")
        return {key: value for key, value in applied.items() if key != last}

    # As seen by a connection of its own, to which what a test does and takes back is nothing.
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", all_but_one)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.content) == (503, b"database: migrations are missing; run migrate\n")


@pytest.mark.django_db
@pytest.mark.parametrize("url", ["redis://:geheim@127.0.0.1:1/0", "amqp://me:geheim@127.0.0.1:1//"])
def test_a_broker_that_is_gone(client: Client, monkeypatch, url: str):
    monkeypatch.setattr(current_app.conf, "broker_url", url)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.content) == (503, b"broker: can't be reached\n")


@pytest.mark.django_db
def test_a_folder_that_is_gone(client: Client, broker: None, settings: Any, tmp_path):
    settings.DATA_DIR = tmp_path / "gone"
    assert client.get("/readyz").content == b"data folder: can't be written\n"


@pytest.mark.django_db
def test_probes_leave_no_lines_but_a_change_does(client: Client, broker: None, settings: Any, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    folder = settings.DATA_DIR
    for _ in range(3):
        client.get("/healthz")
    settings.DATA_DIR = tmp_path / "gone"
    for _ in range(3):
        client.get("/readyz")
    settings.DATA_DIR = folder
    for _ in range(3):
        client.get("/readyz")
    told = [record.getMessage() for record in caplog.records if record.name.startswith("assessor")]
    assert told == ["readiness: data folder: can't be written", "readiness: ready"]
