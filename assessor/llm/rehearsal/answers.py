"""What the rehearsal endpoint answers: by shared words alone, good enough to be looked at, never to be believed."""

import re
from collections.abc import Iterable

from assessor.llm.rehearsal.asked import Asked

Value = list[str] | int | str

_WORD = re.compile(r"[^\W_]+")
_CLAUSE = re.compile(r"[.!;:]+(?:\s+|\Z)|,\s+|\s+[-–—]\s+|[()\[\]]|(?<=\?)\s+|\n+")  # noqa: RUF001
_QUOTES = str.maketrans("", "", '"“”„«»')
_EMPTY = (
    "a about after all also am an and any are as at be been being both but by can could did do does for from had has "
    "have he her his how i if in into is it its many may me might more most much must my no nor not of on one only or "
    "other our out over she should so some such than that the their them then there these they this those to too under "
    "up us very was we were what when where which while who whom whose why will with would you your"
)
_EMPTY_WORDS = frozenset(_EMPTY.split())
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
    kept = [(nugget, _stems(nugget)) for nugget in asked.nuggets]
    for passage in asked.passages:
        found = sorted(_statements(passage, asked.words), key=lambda each: -len(each[1] & query))
        new = 0
        for text, stems in found:
            if new < _FROM_A_PASSAGE and not any(_alike(stems, other) for _, other in kept):
                kept.append((text, stems))
                new += 1
    on_topic = [each for each in kept if each[1] & query] or kept
    return [text for text, stems in sorted(on_topic, key=lambda each: -len(each[1] & query))][: asked.most]


def _statements(passage: str, most_words: int) -> Iterable[tuple[str, frozenset[str]]]:
    """Yield clauses of 1 to so many words that say something and are no questions, with their stems."""
    for clause in _CLAUSE.split(passage):
        text = " ".join(clause.translate(_QUOTES).split()[:most_words]).strip(" ,'")
        stems = _stems(text)
        if len(stems) > 1 and "?" not in clause and text.isprintable():
            yield text, stems


def _importance(asked: Asked) -> list[str]:
    query = _stems(asked.about)
    shared = [len(_stems(nugget) & query) for nugget in asked.nuggets]
    least = max(1, *shared, 0) / 2
    return ["vital" if count >= least else "okay" for count in shared]


def _by_share(text: str, said: frozenset[str], much: str, some: str, little: str) -> str:
    share = _share(_stems(text), said)
    return much if share >= 0.75 else some if share >= 0.35 else little


def _alike(some: frozenset[str], others: frozenset[str]) -> bool:
    return len(some & others) >= 0.6 * min(len(some), len(others))


def _share(wanted: frozenset[str], found: frozenset[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 0.0


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in _WORD.findall(text.lower()) if word not in _EMPTY_WORDS)
