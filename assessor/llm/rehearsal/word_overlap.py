"""What shared words say of two texts: for rehearsals, good enough to be looked at, never to be believed.

Reports tell by the same stems that a sentence was had before.
"""

import re
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+")
_CLAUSE = re.compile(r"[.!;:]+(?:\s+|\Z)|,\s+|\s+[-–—]\s+|[()\[\]]|(?<=\?)\s+|\n+")  # noqa: RUF001
_QUOTES = str.maketrans("", "", '"“”„«»')
_SAYING_LITTLE = """
a about after all also am an and any are as at be been being both but by can could did do does for from had has have he
her his how i if in into is it its many may me might more most much must my no nor not of on one only or other our out
over she should so some such than that the their them then there these they this those to too under up us very was we
were what when where which while who whom whose why will with would you your
"""
_EMPTY_WORDS = frozenset(_SAYING_LITTLE.split())
_STEM = 6  # letters of a word that count, so that recycled and recycling are one


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that say something."""
    return frozenset(word[:_STEM] for word in _WORD.findall(text.lower()) if word not in _EMPTY_WORDS)


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
