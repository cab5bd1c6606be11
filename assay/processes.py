"""The processes of an installation on one machine: they start from this one, and all end with it."""

import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from assessor.runtime.folders import FILES


def python(*words: str) -> list[str]:
    """Return a command of this Python that imports nothing from the folder that it runs in."""
    return [sys.executable, "-P", *words]


def with_search_path(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which Python finds what this process finds, in whatever folder it runs."""
    return {**env, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}


def without_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what sets up an installation."""
    return {name: value for name, value in env.items() if not name.startswith(("ASSAY_", "CELERY_", "DATABASE_URL"))}


def has_static_files(data: Path) -> bool:
    """Say whether the static files were collected since any of them changed; compressing them takes a while."""
    collected = data / "static" / "staticfiles.json"
    # Packages have static files too: their folder changes with each that is installed or removed.
    sources = [Path(sysconfig.get_path("purelib")), *(FILES / "static").rglob("*")]
    return collected.exists() and all(path.stat().st_mtime < collected.stat().st_mtime for path in sources)


def prepare(data: Path, env: Mapping[str, str]) -> None:
    """Make the database and the static files of a folder of data, at the same time."""
    commands = [["migrate", "--verbosity", "0"]]
    if not has_static_files(data):
        commands.append(["collectstatic", "--noinput", "--verbosity", "0"])
    env = with_search_path(env)
    processes = [subprocess.Popen(python("-m", "assay", *words), env=env) for words in commands]
    try:
        failed = [words for words, process in zip(commands, processes, strict=True) if process.wait() != 0]
    finally:
        for process in processes:
            process.kill()
    if failed:
        sys.exit(f"{' and '.join(words[0] for words in failed)} failed; the lines above say why.")


class Processes:
    """Processes that end when the block ends: with an error, by Ctrl-C, a plain kill or a closed terminal."""

    def __init__(self, env: Mapping[str, str], folder: Path | None = None, *, patience: int = 30) -> None:
        """Take what they run with and in; patience: seconds from a plain kill to a hard one."""
        self._env, self._folder, self._patience = with_search_path(env), folder, patience
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        for ending in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, lambda *_: sys.exit(0))
        return self

    def start(self, *words: str) -> None:
        """Start a program of Python's, such as -m celery."""
        # In a group of its own: Ctrl-C reaches this process alone, which ends each of the others once.
        self._running.append(subprocess.Popen(python(*words), cwd=self._folder, env=self._env, process_group=0))

    def run(self, *words: str) -> None:
        """Run a program of Python's to its end."""
        subprocess.run(python(*words), cwd=self._folder, env=self._env, check=True)

    def all_run(self) -> bool:
        return all(process.poll() is None for process in self._running)

    def wait(self) -> None:
        """Return when one of them has ended."""
        while self.all_run():
            time.sleep(0.5)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for process in self._running:
            process.terminate()
        until = time.monotonic() + self._patience
        for process in self._running:
            try:
                process.wait(timeout=max(until - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
