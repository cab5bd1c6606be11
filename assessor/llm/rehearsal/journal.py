"""The endpoint's log: a line when a request begins and one when it ends, whatever its end is."""

import json
import time
from pathlib import Path
from typing import Any


class Journal:
    """Written and flushed line by line, so that it tells what was in flight when a client was killed."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("a", buffering=1) if path else None  # noqa: SIM115  # open as long as the server
        self._in_flight = 0
        self._number = 0

    def begin(self, request: str, question: str, messages: int) -> dict[str, Any]:
        """Note that a request came; return what end() needs."""
        self._in_flight += 1
        self._number += 1
        entry = {
            "event": "start",
            "id": self._number,
            "request": request,
            "question": question,
            "conversation": messages,
            "start": time.time(),
            "in_flight": self._in_flight,
        }
        self._write(entry)
        return entry

    def end(self, entry: dict[str, Any], status: int | str, what: str) -> None:
        """Note how a request ended. status: of HTTP, or hung, broken, aborted; what: ok, garbage, short, ..."""
        self._in_flight -= 1
        self._write(entry | {"event": "end", "end": time.time(), "status": status, "what": what})

    def _write(self, entry: dict[str, Any]) -> None:
        if self._file:
            self._file.write(json.dumps(entry) + "\n")
