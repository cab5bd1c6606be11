"""An installation of a test's own: data folder, database, broker, workers, each a process that can be killed."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from django.conf import settings
from django.db import connection

from assay.processes import without_settings
from tests.llm.endpoint import ROOT
from tests.ports import free_port

TEMPLATE = "template"  # the last word of the name of PostgreSQL's database of which tests make their own
BIN = Path(sys.executable).parent  # its scripts start what is started here, as in compose.yaml and the units
_STARTS = 120.0  # seconds within which anything must have started: RabbitMQ takes a minute where much else runs
_ENDS = 600.0  # seconds within which a command must have ended: to migrate takes minutes on a machine with much to do


class House:
    """Runs commands and workers on a database of its own."""

    def __init__(self, folder: Path, broker: str, database: str) -> None:
        self.env = without_settings(os.environ) | {
            "ASSAY_SECRET_KEY": "only for tests",
            "ASSAY_HTTPS": "0",
            "ASSAY_DATA_DIR": str(folder),
            "ASSAY_RUNNERS_PER_JOB": "2",
            "ASSAY_LLM_HOSTS": "127.0.0.1",
            "CELERY_BROKER_URL": broker,
            "DATABASE_URL": database,
        }
        self._log = (folder.parent / "workers.log").open("w")
        self._workers: list[subprocess.Popen[bytes]] = []

    def start(self, *words: str, **options: Any) -> "subprocess.Popen[Any]":
        return subprocess.Popen([sys.executable, "manage.py", *words], cwd=ROOT, env=self.env, **options)

    def manage(self, *words: str) -> str:
        """Run a command to its end; return what it printed."""
        with self.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            out, error = process.communicate(timeout=_ENDS)
        assert process.returncode == 0, error
        return str(out)

    def manage_all(self, commands: Iterable[Sequence[str]]) -> None:
        """Run commands one after another in one process, as starting one takes longer than most of them."""
        run = f"from django.core.management import call_command\nfor words in {list(commands)!r}: call_command(*words)"
        self.manage("shell", "--verbosity=0", "--no-imports", "-c", run)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Read from the database, past Django: a process for each look would take most of a test's time."""
        if self.env["DATABASE_URL"]:
            with psycopg.connect(self.env["DATABASE_URL"].replace("postgres:", "postgresql:", 1)) as database:
                return database.execute(query).fetchall()
        path = Path(self.env["ASSAY_DATA_DIR"]) / "assay.sqlite3"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)) as database:
            return database.execute(query).fetchall()

    def run(self, code: str) -> str:
        """Run code that knows the models of jobs and of relevance; return what it printed."""
        models = "from assessor.llm.models import *; from assessor.relevance.models import *; "
        return self.manage("shell", "--verbosity=0", "--no-imports", "-c", models + code.strip())

    def start_worker(self, queue: str = "jobs") -> "subprocess.Popen[bytes]":
        """Start a worker of a queue, in a process group of its own."""
        name = f"test-{uuid.uuid4().hex[:8]}@%h"
        command = [str(BIN / "celery"), "--quiet", "-A", "assessor", "worker", "-Q", queue, "-n", name]
        command += ["--concurrency", "1", "--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
        return self._start_group(command, self.env)

    def start_web(self) -> str:
        """Start the web server, in a process group of its own; return its address once it answers."""
        port = free_port()
        command = [str(BIN / "gunicorn"), "-c", "deploy/gunicorn.conf.py", "assessor.wsgi", "--workers", "1"]
        env = self.env | {"ASSAY_BIND": f"127.0.0.1:{port}"}
        self._start_group(command, env)
        wait_until(lambda: _answers(port), "the web server answers", _STARTS)
        return f"http://127.0.0.1:{port}"

    def _start_group(self, command: Sequence[str], env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        started = subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=self._log, stderr=self._log, start_new_session=True
        )
        self._workers.append(started)
        return started

    def close(self) -> None:
        kill_all_of(*self._workers)
        self._log.close()


def kill_all_of(*processes: "subprocess.Popen[bytes]") -> None:
    """SIGKILL processes and their children, all at once: none sees another one's death."""
    running = [process for process in processes if process.poll() is None]
    everybody = [child for process in running for child in psutil.Process(process.pid).children(recursive=True)]
    for process in running:
        os.killpg(process.pid, signal.SIGKILL)
    for process in running:
        process.wait()
    psutil.wait_procs(everybody, timeout=5)


def copy_database(folder: Path) -> None:
    """Put the tests' own SQLite database, as it is without what a test has yet to commit, into a new data folder.

    To migrate an empty one would take longer than most tests.
    """
    folder.mkdir()
    own = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(own)) as there, closing(sqlite3.connect(folder / "assay.sqlite3")) as here:
        there.backup(here)


@contextmanager
def house(folder: Path, broker: str) -> Iterator[House]:
    """Open a house, on SQLite, or on a PostgreSQL database of its own where the tests run on PostgreSQL."""
    if connection.vendor != "postgresql":
        copy_database(folder)
        made = House(folder, broker, "")
        try:
            yield made
        finally:
            made.close()
        return
    folder.mkdir()
    with own_database(connection.creation.get_test_db_clone_settings(TEMPLATE)["NAME"]) as url:
        made = House(folder, broker, url)
        try:
            yield made
        finally:
            made.close()


@contextmanager
def own_database(template: str) -> Iterator[str]:
    """Make a PostgreSQL database like another; yield its URL, and drop it in the end."""
    told = settings.DATABASES["default"]
    server = f"{told.get('USER') or 'postgres'}@{told.get('HOST') or '127.0.0.1'}:{told.get('PORT') or 5432}"
    if told.get("PASSWORD"):
        server = server.replace("@", f":{told['PASSWORD']}@", 1)
    name = f"assay_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(f"postgresql://{server}/postgres", autocommit=True) as admin:
        admin.execute(f"create database {name} template {template}")
        try:
            yield f"postgres://{server}/{name}"
        finally:
            admin.execute(f"drop database {name} with (force)")


@contextmanager
def broker(kind: str, folder: Path) -> Iterator[str]:
    """Run a broker of the test's own; yield its URL. Skips the test where its program is not at hand."""
    if kind == "embedded":
        yield "embedded://"
        return
    program = {"redis": "redis-server", "rabbitmq": "rabbitmq-server"}[kind]
    # Debian's own rabbitmq-server runs as another user, in that user's folders.
    path = shutil.which(program, path=f"/usr/lib/rabbitmq/bin:{os.environ['PATH']}")
    if path is None:
        pytest.skip(f"{program} is not installed here")
    folder.mkdir()
    port = free_port()
    if kind == "redis":
        command, env, url = _redis(port, folder), os.environ.copy(), f"redis://127.0.0.1:{port}/0"
    else:
        command, env, url = [path], _rabbitmq(port, folder), f"amqp://guest:guest@127.0.0.1:{port}//"
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env=env, cwd=folder, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_until(lambda: _answers(port), f"{program} answers", _STARTS)
            yield url
        finally:
            kill_all_of(server)


def _redis(port: int, folder: Path) -> list[str]:
    return ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]


def _rabbitmq(port: int, folder: Path) -> dict[str, str]:
    plugins = folder / "plugins"
    plugins.write_text("[].")
    return os.environ | {
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"test{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "logs"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
    }


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def wait_until(is_so: Callable[[], bool], what: str, seconds: float) -> None:
    """Wait until something is so; fail after so many seconds."""
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, f"not within {seconds} s: {what}"
        time.sleep(0.1)
