"""The real rehearsal endpoint, as a process of its own."""

import json
import multiprocessing
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
# Hundreds of tests start an endpoint. The first one starts a process that loads Django; it forks all of them.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.llm.served"])
_STARTS = 60.0  # seconds: where much else runs, loading Django takes some


class RunningEndpoint:
    """An endpoint on a free port. Knobs are those of assessor.llm.rehearsal.options, by name."""

    def __init__(self, **knobs: Any) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="assay-endpoint-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)  # tests read the log of one that ended
        self._log = self._folder / "log.jsonl"
        here, there = _PROCESSES.Pipe()
        of_process = ({"port": 0, "log": str(self._log)} | knobs, str(self._folder), there)
        self.process = _PROCESSES.Process(target=_serve, args=of_process, daemon=True)
        self.process.start()
        there.close()
        assert here.poll(_STARTS), "The endpoint did not start."
        self.base_url: str = here.recv()
        here.close()

    def log(self, naming: str = "") -> list[dict[str, Any]]:
        """Return the lines written so far that name something: one when a request began, one when it ended."""
        whole, _, _ = self._log.read_text().rpartition("\n")  # what follows the last end of a line is being written
        return [json.loads(line) for line in whole.splitlines() if naming in line]

    def ended(self) -> list[dict[str, Any]]:
        """Return the requests that came to an end, of whatever kind, so far."""
        return self.of("end")

    def begun(self) -> list[dict[str, Any]]:
        """Return the requests that began so far, whatever became of them."""
        return self.of("start")

    def batched(self) -> list[dict[str, Any]]:
        """Return the requests of batches that were answered so far."""
        return self.of("batched")

    def of(self, event: str) -> list[dict[str, Any]]:
        """Return the lines of an event: batch_created and batch_cancelled, too."""
        return [line for line in self.log(f'"{event}"') if line["event"] == event]

    def stored(self) -> set[str]:
        """Return the ids of the files on disk."""
        return {path.name for path in self._folder.glob("*/*")}

    def stop(self) -> int | None:
        """End it, and return its exit code; None if it runs on."""
        self.process.terminate()
        self.process.join(10)
        return self.process.exitcode


def _serve(*args: Any) -> None:
    from tests.llm.served import serve_endpoint  # not in the process of the tests, whose world may not be there yet

    serve_endpoint(*args)
