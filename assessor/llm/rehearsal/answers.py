"""What the rehearsal endpoint answers: by shared words alone, good enough to be looked at, never to be believed."""

import re
from collections.abc import Iterable

from assessor.llm.rehearsal.asked import Asked

Value = list[str] | int | str
Statement = tuple[str, frozenset[str]]  # a text and its stems

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
_FROM_A_PASSAGE = 2  # nuggets at most, so that later passages have room


def answer(asked: Asked) -> Value:
    """Return the nuggets, the labels, the grade or the label that a question asks for."""
    if asked.question == "creation":
        return _updated(asked)
    if asked.question == "importance":
        return _importance(asked)
    if asked.question == "assignment":
        said = _stems(asked.text)
        return [_by_share(nugget, said, "support", "partial_support", "not_support") for nugget in asked.nuggets]
    if asked.question == "relevance":
        share = _share(_stems(asked.about), _stems(asked.text))
        return sum(share >= least for least in (0.01, 0.5, 0.85))
    return _by_share(asked.about, _stems(asked.text), "full support", "partial support", "no support")


def _updated(asked: Asked) -> list[str]:
    """Return the given list with new statements of the passages, those that share most with the query first."""
    query = _stems(asked.about)
    found = [_statements(passage, asked.words) for passage in asked.passages]
    kept = [(nugget, _stems(nugget)) for nugget in asked.nuggets]
    for statements in found:
        on_topic = [each for each in statements if each[1] & query]
        _add(kept, sorted(on_topic, key=lambda each: -len(each[1] & query)))
    if not kept:  # a list may not be empty: better something beside the point
        for statements in found:
            _add(kept, statements)
    return [text for text, stems in sorted(kept, key=lambda each: -len(each[1] & query))][: asked.most]


def _add(kept: list[Statement], statements: Iterable[Statement]) -> None:
    """Add a passage's first statements that say nothing said before."""
    new = 0
    for text, stems in statements:
        if new < _FROM_A_PASSAGE and not any(_alike(stems, other) for _, other in kept):
            kept.append((text, stems))
            new += 1


def _statements(passage: str, most_words: int) -> list[Statement]:
    """Return clauses, cut to so many words, that say something and are no questions."""
    found = []
    for clause in _CLAUSE.split(passage):
        text = " ".join(clause.translate(_QUOTES).split()[:most_words]).strip(" ,'")
        stems = _stems(text)
        if len(stems) > 1 and "?" not in clause and text.isprintable():
            found.append((text, stems))
    return found


def _importance(asked: Asked) -> list[str]:
    query = _stems(asked.about)
    shared = [len(_stems(nugget) & query) for nugget in asked.nuggets]
    least = max([1, *shared]) / 2
    return ["vital" if count >= least else "okay" for count in shared]


def _by_share(text: str, said: frozenset[str], much: str, some: str, little: str) -> str:
    share = _share(_stems(text), said)
    return much if share >= 0.75 else some if share >= 0.35 else little


def _alike(some: frozenset[str], others: frozenset[str]) -> bool:
    return len(some & others) > 0.6 * len(some | others)


def _share(wanted: frozenset[str], found: frozenset[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 0.0


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in _WORD.findall(text.lower()) if word not in _EMPTY_WORDS)
