"""In which order answers are read for questions: pure functions on the tags of runs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

A_ROUND = 2  # requests that see the same list of questions
MOST_PAIRS = 100
OF_A_REPLY = 2  # questions that are kept of it
_SHARE_OF_LOSER = 0.99


class Pair(NamedTuple):
    """Two runs whose answers were compared; neither won where is_tie says so, and their order means nothing."""

    winner: str
    loser: str
    is_tie: bool = False


def contrasting(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the decided pairs of a topic, those between the best answers first.

    They go by Borda of the winner and 0.99 times that of the loser, then by the bytes of the tags.
    """
    borda = _borda(pairs)

    def place(pair: Pair) -> tuple[float, bytes, bytes]:
        points = borda[pair.winner] + _SHARE_OF_LOSER * borda[pair.loser]
        return -points, pair.winner.encode(), pair.loser.encode()

    return sorted((pair for pair in pairs if not pair.is_tie), key=place)[:MOST_PAIRS]


def winners(pairs: Sequence[Pair]) -> list[str]:
    """Return the runs that won a pair of a topic, the best by Borda first, then by the bytes of the tags."""
    borda = _borda(pairs)
    found = {pair.winner for pair in pairs if not pair.is_tie}
    return sorted(found, key=lambda tag: (-borda[tag], tag.encode()))[:MOST_PAIRS]


def at_random(pairs: Iterable[Pair], topic: str) -> list[Pair]:
    """Return all pairs of a topic in an order that says nothing of which answer is better, and each turned so.

    It follows from the names alone: the pairs are sorted by a sha256 of them, another digit of which turns each.
    """
    drawn = []
    for pair in pairs:
        one, other = sorted((pair.winner, pair.loser), key=str.encode)
        digest = sha256(f"{topic} {one} {other}".encode()).digest()
        drawn.append((digest, Pair(other, one) if digest[-1] % 2 else Pair(one, other)))
    return [pair for _, pair in sorted(drawn)][:MOST_PAIRS]


def _borda(pairs: Iterable[Pair]) -> Counter[str]:
    borda: Counter[str] = Counter()
    for pair in pairs:
        if not pair.is_tie:
            borda[pair.winner] += 1
            borda[pair.loser] -= 1
    return borda


class QuestionList:
    """The questions so far, in the order in which they came. Equal ones, but for blanks and case, are one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places: dict[str, int] = {}
        self.texts: list[str] = []
        self.votes: list[int] = []

    @property
    def is_full(self) -> bool:
        return len(self.texts) >= self._most

    def take(self, reply: Sequence[str]) -> None:
        """Add the first questions of a reply; one that is there already gets a vote, and keeps its first spelling."""
        for place in dict.fromkeys(self._place(text) for text in reply[:OF_A_REPLY]):
            self.votes[place] += 1

    def _place(self, text: str) -> int:
        known = self._places.setdefault(" ".join(text.split()).casefold(), len(self.texts))
        if known == len(self.texts):
            self.texts.append(text)
            self.votes.append(0)
        return known

    def cut(self) -> None:
        """Leave the first ones alone, as many as there may be."""
        del self.texts[self._most :], self.votes[self._most :]
