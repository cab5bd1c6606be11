"""A replica of the PostgreSQL that the tests run on, where that one has its programs here and lets it be copied."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.ports import free_port

# What must be as large as on the primary.
_AS_LARGE = "SELECT name, setting FROM pg_settings WHERE name LIKE 'max_%%' AND name = ANY(%s)"
_LARGE = [
    "max_connections",
    "max_locks_per_transaction",
    "max_prepared_transactions",
    "max_wal_senders",
    "max_worker_processes",
]


class Replica:
    """A server with all that the primary's databases have."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.port, self._folder, self._programs, self._read = free_port(), folder, programs, 0
        # PostgreSQL refuses to be root.
        self._as = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self._as:
            shutil.chown(folder, "postgres")

    def copy(self) -> None:
        """Copy the primary. Skips the test where it lets nobody do so."""
        of = connection.settings_dict
        with connection.cursor() as cursor:
            cursor.execute(_AS_LARGE, [_LARGE])
            large = cursor.fetchall()
        at = f"host={of['HOST']} port={of['PORT'] or 5432} user={of['USER']} password={of['PASSWORD'] or 'none'}"
        copied = self._run("pg_basebackup", "-d", at, "-D", self._data, "-R", "-c", "fast", check=False)
        if copied.returncode:
            pytest.skip(f"This PostgreSQL can't be copied: {copied.stderr}")
        own = dict(large) | {
            "port": self.port,
            "listen_addresses": "'127.0.0.1'",
            "unix_socket_directories": "''",
            "fsync": "off",
            "log_statement": "all",
            "log_min_messages": "log",
        }
        lines = "".join(f"{name} = {value}\n" for name, value in own.items())
        for name, text in {"postgresql.conf": lines, "pg_hba.conf": "host all all 127.0.0.1/32 trust\n"}.items():
            path = self._folder / "data" / name
            path.write_text(text)
            if self._as:
                shutil.chown(path, "postgres")
        (self._folder / "data" / "pg_ident.conf").touch()

    def start(self) -> None:
        self._run("pg_ctl", "-D", self._data, "-l", str(self._folder / "log"), "-w", "start")

    def stop(self) -> None:
        """Kill it: what it answers just then is never sent."""
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop", check=False)

    def do(self, sql: str) -> Any:
        """Return the first column of the first row, if any, of a statement by its administrator."""
        at = f"host=127.0.0.1 port={self.port} user=postgres dbname={connection.settings_dict['NAME']}"
        with psycopg.connect(at, autocommit=True) as server:
            done = server.execute(sql)  # type: ignore[call-overload]
            found = done.fetchone() if done.description else None
        return found and found[0]

    def statements(self) -> list[str]:
        """Return what it was asked since the last time."""
        text = (self._folder / "log").read_text(errors="replace")
        new, self._read = text[self._read :], len(text)
        return [line for line in new.splitlines() if " LOG:  statement: " in line or " LOG:  execute " in line]

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def _run(self, program: str, *words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
        command = [*self._as, str(self._programs / program), *words]
        # Of what stays behind, no pipe is held open.
        with (self._folder / "errors").open("w+") as errors:
            done = subprocess.run(command, cwd=self._folder, stdout=errors, stderr=errors, check=False)
            errors.seek(0)
            done.stderr = errors.read()
        assert not check or done.returncode == 0, done.stderr
        return done


@contextmanager
def running_replica() -> Iterator[Replica]:
    """Run a replica of the database that the tests are on. Skips them where that can't be."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_basebackup"), key=lambda path: int(path.parts[-3]))
    if connection.vendor != "postgresql" or not found:
        pytest.skip("PostgreSQL alone has replicas, and its programs are needed for one.")
    with tempfile.TemporaryDirectory(prefix="assay-replica-") as name:
        replica = Replica(Path(name), found[-1].parent)
        replica.copy()
        try:
            replica.start()
            yield replica
        finally:
            replica.stop()
