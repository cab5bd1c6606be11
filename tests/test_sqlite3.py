"""Waiting for SQLite's one writer."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_django
from django.db import OperationalError, connections
from django.db.utils import ConnectionHandler

from assessor.runtime.sqlite_backend.base import DatabaseWrapper


@pytest.fixture(autouse=True)
def _database_allowed(django_db_blocker: pytest_django.DjangoDbBlocker) -> Iterator[None]:
    """Files of their own, not the tests' database."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "a.sqlite3") as db:
        db.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t (n INTEGER)")
    return tmp_path / "a.sqlite3"


@pytest.fixture
def holder(file: Path) -> Iterator[sqlite3.Connection]:
    """A connection that has the lock."""
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    db.execute("BEGIN IMMEDIATE")
    yield db
    db.close()


def opened(file: Path, timeout: float) -> DatabaseWrapper:
    options = {"transaction_mode": "IMMEDIATE", "timeout": timeout}
    described = {"ENGINE": "assessor.runtime.sqlite_backend", "NAME": file, "OPTIONS": options}
    return ConnectionHandler({"default": described})["default"]  # type: ignore[return-value]


def begin(db: DatabaseWrapper) -> float:
    """Begin a transaction; return how long that took, in seconds."""
    started = time.monotonic()
    db.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    return time.monotonic() - started


def busy_timeout(db: DatabaseWrapper) -> int:
    with db.cursor() as cursor:
        return int(cursor.execute("PRAGMA busy_timeout").fetchone()[0])


def test_it_is_what_the_project_runs_on() -> None:
    if connections["default"].vendor == "sqlite":
        assert isinstance(connections["default"], DatabaseWrapper)


def test_who_waits_begins_as_soon_as_the_lock_is_free(file: Path, holder: sqlite3.Connection) -> None:
    db = opened(file, 20)
    threading.Timer(0.5, lambda: holder.execute("COMMIT")).start()
    took = begin(db)
    with db.cursor() as cursor:
        cursor.execute("INSERT INTO t VALUES (1)")
    db.set_autocommit(True)
    assert 0.4 < took < 5
    assert sqlite3.connect(file).execute("SELECT n FROM t").fetchall() == [(1,)]
    assert busy_timeout(db) == 20_000
    db.close()


def test_who_waits_too_long_is_told(file: Path, holder: sqlite3.Connection) -> None:
    db = opened(file, 0.3)
    with pytest.raises(OperationalError, match="database is locked"):
        begin(db)
    assert busy_timeout(db) == 300  # what is written without a transaction waits as it did
    holder.execute("COMMIT")
    assert begin(db) < 5
    db.rollback()
    db.close()
