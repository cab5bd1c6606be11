"""The real rehearsal endpoint, as a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


class RunningEndpoint:
    """An endpoint on a free port. Knobs are those of assessor.llm.rehearsal.knobs, by name."""

    def __init__(self, **knobs: Any) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="assay-endpoint-")
        self._log = Path(self._folder.name) / "log.jsonl"
        options = [
            word
            for name, value in ({"port": 0, "log": str(self._log)} | knobs).items()
            for word in _option(name, value)
        ]
        env = os.environ | {"ASSAY_DATA_DIR": str(Path(self._folder.name) / "data")}
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve_rehearsal_llm", *options],
            cwd=ROOT,
            env=env,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()  # empty if it ended
        assert "http://" in line, "The endpoint did not start."
        self.base_url = line.split()[-1]

    def log(self) -> list[dict[str, Any]]:
        """Return the lines written so far: one when a request began, one when it ended."""
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def ended(self) -> list[dict[str, Any]]:
        """Return the requests that came to an end, of whatever kind, so far."""
        return [line for line in self.log() if line["event"] == "end"]

    def begun(self) -> list[dict[str, Any]]:
        """Return the requests that began so far, whatever became of them."""
        return [line for line in self.log() if line["event"] == "start"]

    def stop(self) -> int:
        """End it, and return its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(timeout=10)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def _option(name: str, value: Any) -> list[str]:
    option = "--" + name.replace("_", "-")
    return ([option] if value else []) if isinstance(value, bool) else [option, str(value)]
