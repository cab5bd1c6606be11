"""The words of a text that say something, by their stems."""

import re

_WORD = re.compile(r"[^\W_]+")
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
