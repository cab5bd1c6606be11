"""What happens to a request: drawn from its content and the seed, never from the clock."""

import hashlib
from typing import NamedTuple

from assessor.llm.rehearsal.options import TROUBLES, Knobs


class Fate(NamedTuple):
    """what: one of TROUBLES or "ok"; choice: a number to pick one of several forms with."""

    what: str
    latency: float
    choice: int


def fate(knobs: Knobs, request: str, seen: int) -> Fate:
    """Draw what happens to a request that came `seen` times before: runs are alike, and a retry is drawn anew."""
    drawn = hashlib.sha256(f"{knobs.seed} {seen} {request}".encode()).digest()
    place, spread = (int.from_bytes(part) / 2**64 for part in (drawn[:8], drawn[8:16]))
    choice = int.from_bytes(drawn[16:20])
    latency = knobs.latency + knobs.jitter * spread
    for trouble in TROUBLES:
        place -= knobs.rate(trouble)
        if place < 0:
            return Fate(trouble, latency, choice)
    return Fate("ok", latency, choice)
