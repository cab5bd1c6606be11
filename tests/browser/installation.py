"""An installation by hand, as docs/administrator/settings.md says: empty database, web, workers, beat; no demo."""

import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest

from tests.browser.conftest import ROOT, copy_prepared, environment, make_once

ADMIN, PASSWORD = "root", "a good long password of ours"
CELERY = ["-m", "celery", "--quiet", "-A", "assessor"]
WORKER = [*CELERY, "worker", "--loglevel", "ERROR", "--without-gossip", "--without-mingle"]


class Installation:
    """A running installation with one administrator, and the rehearsal endpoint beside it."""

    def __init__(self, factory: pytest.TempPathFactory, port: int, *, has_jobs: bool = True, **settings: str) -> None:
        """has_jobs: else neither what runs jobs is started, nor what they ask, nor beat."""
        self._factory, self._has_jobs = factory, has_jobs
        self.data, self.port, self.model_port = factory.mktemp("installation") / "data", port, port + 1
        self._env = environment(self.data) | {
            "ASSAY_SECRET_KEY": "this installation's own",
            "ASSAY_LLM_HOSTS": f"127.0.0.1:{self.model_port}",
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            **settings,
        }
        self._processes: list[subprocess.Popen[bytes]] = []
        self._log = (self.data.parent / "installation.log").open("ab")

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def model_url(self) -> str:
        return f"http://127.0.0.1:{self.model_port}/v1"

    def manage(self, *words: str) -> str:
        """Run a command of manage.py; return what it printed."""
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(command, cwd=ROOT, env=self._env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _start(self) -> None:
        with make_once(self._factory, "administered") as (folder, is_new):
            if is_new:
                copy_prepared(self._factory, self.data)
                self.manage("createsuperuser", "--noinput", "--username", ADMIN, "--email", "root@example.org")
                shutil.copytree(self.data, folder, dirs_exist_ok=True)
        if not is_new:
            shutil.copytree(folder, self.data)
        bind = f"127.0.0.1:{self.port}"
        self._run("-m", "gunicorn", "assessor.wsgi", "--worker-class", "gthread", "--threads", "8", "--bind", bind)
        self._run(*WORKER, "-Q", "celery", "-n", f"imports{self.port}@%h", "--concurrency", "1")
        urls = [f"{self.address}/login/"]
        if self._has_jobs:
            self._run(*WORKER, "-Q", "jobs", "-n", f"jobs{self.port}@%h", "--concurrency", "2")
            self._run(*CELERY, "beat", "--loglevel", "ERROR", "-s", str(self.data / "beat"))
            self._run("manage.py", "serve_rehearsal_llm", "--port", str(self.model_port))
            urls.append(f"{self.model_url}/models")
        for url in urls:
            self._wait_for(url)

    def _run(self, *words: str) -> None:
        command = [sys.executable, *words]
        process = subprocess.Popen(command, cwd=ROOT, env=self._env, stdout=self._log, stderr=self._log)
        self._processes.append(process)

    def _wait_for(self, url: str) -> None:
        until = time.monotonic() + 120
        while True:
            with suppress(OSError):
                urllib.request.urlopen(url, timeout=5).close()
                return
            assert time.monotonic() < until, f"{url} does not answer"
            assert all(process.poll() is None for process in self._processes), Path(self._log.name).read_text()
            time.sleep(0.1)

    def _stop(self) -> None:
        """End all processes; none may have ended before."""
        died = [process.args for process in self._processes if process.poll() is not None]
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
            process.kill()
        self._log.close()
        assert died == [], Path(self._log.name).read_text()
