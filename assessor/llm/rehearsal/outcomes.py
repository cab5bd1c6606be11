"""What happens to a request: drawn from its content and the seed, never from the clock."""

import hashlib
from typing import NamedTuple

from assessor.llm.rehearsal.options import TROUBLES, Knobs
from assessor.llm.rehearsal.recognition import Answer


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


def flipped(knobs: Knobs, answer: Answer | None, request: str, seen: int) -> Answer | None:
    """Return an answer to a request that came `seen` times before, with some labels changed to others."""
    return changed(answer, knobs.flip_rate, str(knobs.seed), str(seen), request) if seen else answer


def changed(answer: Answer | None, share: float, seed: str, time: str, request: str) -> Answer | None:
    """Return an answer, a list or a label, with a share of its labels changed to others, drawn by these texts."""
    if not share or answer is None or len(labels := list(answer.prompt.vocabulary)) < 2:
        return answer
    is_list = isinstance(answer.value, list)
    value = []
    for place, label in enumerate(answer.value if is_list else [answer.value]):
        drawn = hashlib.sha256(f"{seed} {time} {place} {request}".encode()).digest()
        if int.from_bytes(drawn[:8]) / 2**64 < share:
            others = [one for one in labels if one != label]
            label = others[drawn[8] % len(others)]
        value.append(label)
    return answer._replace(value=value if is_list else value[0])
