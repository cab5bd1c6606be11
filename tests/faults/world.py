"""An installation of a trial's own, of which every process can be killed: web, workers, beat, broker and database."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from bench import house
from tests.llm.endpoint import ROOT
from tests.llm.house import wait_until
from tests.ports import free_port

_STARTS = 90.0  # seconds within which anything must have started
_CELERY = [sys.executable, "-m", "celery", "--quiet", "-A", "assessor"]
_WORKER = [*_CELERY, "worker", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
COMMANDS = {
    "web": [sys.executable, "-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", "assessor.wsgi"],
    "imports": [*_WORKER, "-Q", "celery", "-n", "imports@%h", "--concurrency", "1"],
    "jobs": [*_WORKER, "-Q", "jobs", "-n", "jobs@%h", "--concurrency", "2"],
    "beat": [*_CELERY, "beat", "--loglevel", "WARNING"],
}
PROGRAMS = tuple(COMMANDS)


class World:
    """Processes in a folder. has_servers: on a PostgreSQL and a Redis of its own; else on what is embedded."""

    address = "127.0.0.1"  # of the servers
    programs = PROGRAMS

    def __init__(self, folder: Path, *, has_servers: bool) -> None:
        self.folder, self.data, self.has_servers = folder, folder / "data", has_servers
        self.port = free_port()
        self._running: dict[str, psutil.Popen] = {}
        self._commands = {name: list(command) for name, command in COMMANDS.items()}
        self._commands["beat"] += ["-s", str(folder / "beat")]
        self._listening = {"web": ("127.0.0.1", self.port)}
        self.env = {
            "ASSAY_BIND": f"127.0.0.1:{self.port}",
            "ASSAY_RUNNERS_PER_JOB": "2",
            "CELERY_BROKER_URL": "embedded://",
            "DATABASE_URL": "",
        }
        if has_servers:
            at, queue = free_port(), free_port()
            self._commands["database"] = [str(_postgres("postgres")), "-D", str(folder / "postgres"), "-p", str(at)]
            self._commands["database"] += ["-h", self.address, "-k", ""]
            self._commands["broker"] = ["redis-server", "--port", str(queue), "--bind", self.address, "--save", ""]
            self._commands["broker"] += ["--protected-mode", "no"]
            self._listening["broker"] = (self.address, queue)
            self.env["CELERY_BROKER_URL"] = f"redis://{self.address}:{queue}/0"
            self.env["DATABASE_URL"] = f"postgres://{_server_user()}@{self.address}:{at}/assay"

    @property
    def servers(self) -> tuple[str, ...]:
        return ("database", "broker") if self.has_servers else ()

    def make(self) -> None:
        """Make the servers' folders, start them, and fill the database with a campaign and people at work."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.has_servers:
            own = self.folder / "postgres"
            own.mkdir(mode=0o700)
            self.folder.chmod(0o711)
            if _other_user():
                shutil.chown(own, _server_user())
            command = [str(_postgres("initdb")), "-D", str(own), "-U", _server_user(), "-A", "trust", "-E", "UTF8"]
            subprocess.run([*command, "--locale", "C.UTF-8"], check=True, capture_output=True, **_other_user())
            with (own / "pg_hba.conf").open("a") as trusted:
                trusted.write(f"host all all {self.address}/24 trust\n")
            self.start(*self.servers)
            self._create_database("assay")
        command = [sys.executable, "-m", "bench.load", "--prepare-only", "--folder", str(self.data)]
        env = os.environ | self.env
        subprocess.run([*command, "--scale", "0.02", "--people", "12"], check=True, env=env, cwd=ROOT)
        self.stop(*self.servers)

    def open(self) -> None:
        """Start the servers, and set Django up in this process on the database."""
        self.start(*self.servers)
        os.environ |= self.env
        house.open_house(self.data, self.env["DATABASE_URL"])

    def empty_database(self, name: str) -> dict[str, str]:
        """Make a database without tables beside the world's own, with a data folder; return what leads to both."""
        (self.folder / name).mkdir()
        url = self.env["DATABASE_URL"]
        if url:
            self._create_database(name)
        return {
            "ASSAY_DATA_DIR": str(self.folder / name),
            "DATABASE_URL": url.removesuffix("assay") + name if url else "",
        }

    def _create_database(self, name: str) -> None:
        where = ["-h", self.address, "-p", self._port_of_the_database(), "-U", _server_user()]
        subprocess.run(["createdb", *where, name], check=True)

    def start(self, *names: str, env: dict[str, str] | None = None) -> None:
        """Start processes, with further settings, and wait until those answer that have a port."""
        for name in names:
            log = (self.folder / f"{name}.log").open("ab")
            settings = {"env": os.environ | self.env | (env or {}), "cwd": ROOT, "start_new_session": True}
            if name == "database":
                settings |= {"cwd": self.folder / "postgres", **_other_user()}
            self._running[name] = psutil.Popen(self._commands[name], stdout=log, stderr=log, **settings)
        for name in names:
            wait_until(lambda name=name: self._answers(name), f"{name} answers", _STARTS)  # type: ignore[misc]

    def kill(self, *names: str) -> None:
        """SIGKILL processes with all their children at once: none sees another one's death."""
        everybody = [one for name in names for one in self.family(name)]
        for one in everybody:
            with suppress(psutil.NoSuchProcess):
                one.suspend()
        for one in everybody:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        psutil.wait_procs(everybody, timeout=10)
        for name in names:
            self._running.pop(name).wait()

    def stop(self, *names: str) -> None:
        """End processes as a service manager does."""
        running = [self._running.pop(name) for name in names if name in self._running]
        for process in running:
            process.send_signal(signal.SIGINT if "postgres" in process.args[0] else signal.SIGTERM)
        for process in running:
            process.wait(timeout=60)

    def close(self) -> None:
        """Kill what still runs."""
        with suppress(psutil.NoSuchProcess):
            self.kill(*self._running)

    def family(self, name: str) -> list[psutil.Process]:
        """Return a process and all its children."""
        process = psutil.Process(self._running[name].pid)
        return [process, *process.children(recursive=True)]

    def runs(self, name: str) -> bool:
        """Say whether a process that was started is still there."""
        return name in self._running and self._running[name].poll() is None

    def _port_of_the_database(self) -> str:
        command = self._commands["database"]
        return command[command.index("-p") + 1]

    def _answers(self, name: str) -> bool:
        assert self.runs(name), f"{name} ended: {(self.folder / f'{name}.log').read_text()[-2000:]}"
        if name == "database":
            command = [str(_postgres("pg_isready")), "-q", "-h", self.address, "-p", self._port_of_the_database()]
            return subprocess.run(command, check=False).returncode == 0
        if name not in self._listening:
            return True
        try:
            socket.create_connection(self._listening[name], 1).close()
        except OSError:
            return False
        return True


def _postgres(program: str) -> Path:
    """Return where a program of PostgreSQL's server is: Debian has it on no path."""
    if found := shutil.which(program):
        return Path(found)
    return max(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))


def _other_user() -> dict[str, Any]:
    """Return the options with which PostgreSQL's server runs as its own user: it refuses to be root."""
    return {"user": _server_user(), "group": pwd.getpwnam(_server_user()).pw_gid} if os.geteuid() == 0 else {}


def _server_user() -> str:
    return "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def can_have_servers() -> bool:
    """Say whether PostgreSQL and Redis are installed here."""
    there = bool(list(Path("/usr/lib/postgresql").glob("*/bin/initdb"))) or shutil.which("initdb")
    return bool(there and shutil.which("redis-server"))


def wrong_clock(seconds: int) -> dict[str, str]:
    """Return the environment in which a process has a clock that is so much ahead."""
    folders = f"{ROOT}/tests/faults/clocks{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return {"PYTHONPATH": folders, "ASSAY_TRIAL_AHEAD": str(seconds)}


def patiently(is_so: Callable[[], bool], what: str, seconds: float) -> None:
    """Wait until something of the database is so, whose server may be away meanwhile."""
    from django.db import Error, connection

    until = time.monotonic() + seconds
    while True:
        try:
            if is_so():
                return
        except Error:
            connection.close()
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)
