"""The first lines of a file, by which its kind is recognised: little is read, however large the file is."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from assessor.formats.lines import MAX_LINE, SourceFile
from assessor.formats.report import Report, Unreadable

_LINES = 5


class Beginning(NamedTuple):
    """Lines of a file, and the objects in those that are JSON. Both are empty where the file is no text."""

    lines: Sequence[str]
    records: Sequence[Mapping[str, Any]]

    @property
    def columns(self) -> Sequence[Sequence[str]]:
        """What the lines have between blanks."""
        return [line.split() for line in self.lines]

    def has(self, *keys: str) -> bool:
        """Say whether the file is of JSON objects, and the first has all of these keys."""
        return bool(self.records) and self.records[0].keys() >= set(keys)

    def has_any(self, *keys: str) -> bool:
        """Say whether the first JSON object has one of these keys."""
        return bool(self.records) and not self.records[0].keys().isdisjoint(keys)


def read_beginning(path: Traversable) -> Beginning:
    """Read the first lines of a file, plain or gzip, up to the length of one line in all."""
    lines: list[str] = []
    source = SourceFile(path).lines(Report(""))
    try:
        for line in source:
            lines.append(line.text)
            if len(lines) == _LINES or sum(map(len, lines)) > MAX_LINE:
                break
    except Unreadable:
        pass  # the importer's report says why
    finally:
        source.close()
    return Beginning(lines, [record for record in map(_object, lines) if record is not None])


def _object(line: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
