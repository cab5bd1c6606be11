"""The rehearsal endpoint as a process of its own, for tests over real HTTP."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


class Endpoint:
    """A running endpoint: its base URL and what it has logged."""

    def __init__(self, folder: Path, port: int = 0, **knobs: Any) -> None:
        self._log = folder / "endpoint.jsonl"
        self._log.touch()
        options = [f"--{name.replace('_', '-')}={value}" for name, value in knobs.items() if value is not True]
        options += [f"--{name.replace('_', '-')}" for name, value in knobs.items() if value is True]
        command = [sys.executable, "manage.py", "serve_rehearsal_llm", f"--port={port}", f"--log={self._log}", *options]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ)
        assert self._process.stdout is not None
        self.base_url = self._process.stdout.readline().split()[-1]

    @property
    def port(self) -> int:
        return int(self.base_url.split(":")[2].split("/")[0])

    def log(self) -> list[dict[str, Any]]:
        """Return a line for each request that has ended."""
        return [line for line in self._lines() if line["event"] == "end"]

    def begun(self) -> list[dict[str, Any]]:
        """Return a line for each request that came, whatever became of it."""
        return [line for line in self._lines() if line["event"] == "start"]

    def _lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines() if line.endswith("}")]

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:  # somebody's connection still hangs
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
