"""What a condition's files would have now that a frozen version has not, and the other way round."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from assessor.exports import frozen_files
from assessor.exports.freeze import parts_of
from assessor.exports.models import Frozen

_NAMED = 5
_KEYS = (
    *("qid", "query_id", "topic_id", "topic", "docid", "doc_id", "run_id", "run"),
    *("question", "sentence", "citation", "at"),
)


class Change(NamedTuple):
    """How many records of a file were added, removed and changed, and the first few of them by name."""

    file: str
    added: int
    removed: int
    changed: int
    named: list[str]


def changes_since(frozen: Frozen) -> list[Change]:
    """Return what differs now, for each file that does."""
    found = []
    # What lacks labels now has scores all the same: what became of them is what is asked.
    parts = parts_of(frozen.condition, allow_incomplete=True)
    present = {(kind.name, chosen.form): (kind, chosen) for kind, chosen in parts}
    for file in frozen.files.select_related("blob").order_by("name"):
        kind, chosen = present.get((file.kind, file.form), (None, None))
        before = dict(_records(file.name, frozen_files.text_lines(file.blob)))
        added, changed = [], []
        for key, sum_now in _records(file.name, kind.lines(chosen) if kind and chosen else ()):
            sum_then = before.pop(key, None)
            if sum_then is None:
                added.append(key)
            elif sum_then != sum_now:
                changed.append(key)
        if added or changed or before:
            told = (
                *(f"{key} (changed)" for key in changed),
                *(f"{key} (added)" for key in added),
                *(f"{key} (removed)" for key in before),
            )
            found.append(Change(file.name, len(added), len(before), len(changed), list(told[:_NAMED])))
    return found


def _records(name: str, lines: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the records of a file: how each is named, and a sum of what it says."""
    seen: Counter[str] = Counter()
    for key, text in _named(name, lines):
        seen[key] += 1
        again = f" (no. {seen[key]})" if seen[key] > 1 else ""
        yield key + again, blake2b(text.encode(), digest_size=16).digest()


def _named(name: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    if name.endswith(".jsonl"):
        for line in lines:
            record = json.loads(line)
            yield " ".join(str(record[key]) for key in _KEYS if record.get(key) is not None), line
    elif name.endswith(".csv"):
        rows = csv.reader(lines)
        head = next(rows, [])
        places = [at for at, column in enumerate(head) if column in _KEYS]
        for row in rows:
            yield " ".join(row[at] for at in places), "\x1f".join(row)
    else:  # qrels
        for line in lines:
            topic, _, docid, _ = line.split()
            yield f"{topic} {docid}", line
