"""The real rehearsal endpoint, as a process of its own."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
# What the command does, without Django: hundreds of tests start one.
_SERVE = """
import json, sys
from assessor.llm.rehearsal.knobs import Knobs
from assessor.llm.rehearsal.serving import serve
serve(Knobs(**json.loads(sys.argv[1])), lambda url: print(url, flush=True))
"""


class RunningEndpoint:
    """An endpoint on a free port. Knobs are those of assessor.llm.rehearsal.knobs, by name."""

    def __init__(self, **knobs: Any) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="assay-endpoint-")
        self._log = Path(self._folder.name) / "log.jsonl"
        told = json.dumps({"port": 0, "log": str(self._log)} | knobs)
        command = [sys.executable, "-c", _SERVE, told]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.base_url = self.process.stdout.readline().strip()  # empty if it ended
        assert self.base_url.startswith("http://"), "The endpoint did not start."

    def log(self) -> list[dict[str, Any]]:
        """Return the lines written so far: one when a request began, one when it ended."""
        whole, _, _ = self._log.read_text().rpartition("\n")  # what follows the last end of a line is being written
        return [json.loads(line) for line in whole.splitlines()]

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
