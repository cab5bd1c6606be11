"""What goes wrong with a request: drawn from the request itself, so that the same run goes wrong in the same places."""

import hashlib
from collections import Counter
from typing import NamedTuple

from assessor.llm.rehearsal.knobs import TROUBLES, Knobs


class Fate(NamedTuple):
    """trouble: one of TROUBLES, or "" where all goes well; draw: a number for whatever else is to be drawn."""

    trouble: str
    draw: int


class Fates:
    """Draws for each request; one that is sent again draws again, so that some time it goes well."""

    def __init__(self, knobs: Knobs) -> None:
        self._knobs = knobs
        self._rates = [(trouble, knobs.rate(trouble)) for trouble in TROUBLES if knobs.rate(trouble)]
        self._seen: Counter[str] = Counter()

    def draw(self, request: str) -> Fate:
        """Return what happens to a request, known by its hash."""
        if not self._rates:
            return Fate("", 0)
        self._seen[request] += 1
        drawn = hashlib.sha256(f"{self._knobs.seed} {request} {self._seen[request]}".encode()).digest()
        place = int.from_bytes(drawn[:8]) / 2**64
        draw = int.from_bytes(drawn[8:12])
        for trouble, rate in self._rates:
            if place < rate:
                return Fate(trouble, draw)
            place -= rate
        return Fate("", draw)
