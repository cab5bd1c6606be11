"""The log of the rehearsal endpoint: a line of JSON when a request begins and one when it ends."""

import json
import os
from typing import Any


class Journal:
    """Appends lines to a file, each in one write, so that they are there when a process is killed."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600) if path else None

    def write(self, event: str, record: dict[str, Any]) -> None:
        if self._file is not None:
            os.write(self._file, json.dumps({"event": event} | record).encode() + b"\n")
