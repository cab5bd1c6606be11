"""What shared words say of two texts: for rehearsals, good enough to be looked at, never to be believed."""

import re
from collections.abc import Sequence

from assessor.formats.stems import stems

_CLAUSE = re.compile(r"[.!;:]+(?:\s+|\Z)|,\s+|\s+[-–—]\s+|[()\[\]]|(?<=\?)\s+|\n+")  # noqa: RUF001
_QUOTES = str.maketrans("", "", '"“”„«»')


def share(text: str, other: frozenset[str]) -> float:
    """Return the share of a text's stems that are among the stems of another one, 0 to 1."""
    wanted = stems(text)
    return len(wanted & other) / len(wanted) if wanted else 0.0


def label_by_share(text: str, other: frozenset[str], labels: Sequence[str]) -> str:
    """Return the first of three labels where the stems of another text have much of a text, the last for little."""
    shared = share(text, other)
    return labels[0] if shared >= 0.75 else labels[1] if shared >= 0.35 else labels[2]


def clauses(text: str, most_words: int) -> list[str]:
    """Return the clauses of a text that say something and are no questions, cut to so many words."""
    found = []
    for part in _CLAUSE.split(text):
        clause = " ".join(part.translate(_QUOTES).split()[:most_words]).strip(" ,'")
        if len(stems(clause)) > 1 and "?" not in part and clause.isprintable():
            found.append(clause)
    return found
