"""What a prompt of the project asks, read off its own text.

The texts in a prompt (passages, answers, sentences) may hold anything, labels of a prompt too. What comes before the
first of them is known, and so is what comes after the last; both are looked for from their own end.
"""

import json
import re
from typing import Any, NamedTuple

_ABOUT = re.compile(r"^(Query|Sentence): ", re.MULTILINE)
_NEXT = re.compile(r"\n(Passages|Passage|Answer|List of \d+ nuggets):\s")
_MOST = re.compile(r"at most (\d+) nuggets")
_WORDS = re.compile(r"1 to (\d+) words")
_NUMBERED = re.compile(r"^\[\d+\] ", re.MULTILINE)
_QUESTIONS = {
    ("Query", "Passages"): "creation",
    ("Query", "List"): "importance",
    ("Query", "Answer"): "assignment",
    ("Query", "Passage"): "relevance",
    ("Sentence", "Passage"): "support",
}


class Asked(NamedTuple):
    """A question and what it is about. about: the query or the sentence; text: the answer or the passage."""

    question: str
    about: str
    text: str = ""
    passages: tuple[str, ...] = ()
    nuggets: tuple[str, ...] = ()
    most: int = 30
    words: int = 12


def asked(prompt: str) -> Asked | None:
    """Return what a prompt asks, or None for one that is none of the project's."""
    first = _ABOUT.search(prompt)
    second = _NEXT.search(prompt, first.end() - 1) if first else None
    if first is None or second is None:
        return None
    question = _QUESTIONS.get((first[1], second[1].split()[0]))
    about, rest = prompt[first.end() : second.start()].strip(), prompt[second.end() :]
    if question == "creation":
        return _creation(about, prompt[: first.start()], rest)
    if question == "importance":
        nuggets = _strings(rest)
        return None if nuggets is None else Asked(question, about, nuggets=nuggets)
    if question == "assignment":
        answer, _, rest = rest.rpartition("\nList of ")
        nuggets = _strings(rest.partition(": ")[2])
        return None if nuggets is None else Asked(question, about, answer, nuggets=nuggets)
    if question:
        return Asked(question, about, rest.rpartition("\n\n")[0])
    return None


def _creation(query: str, rules: str, rest: str) -> Asked | None:
    rest, _, given = rest.rpartition("\nPresent list of ")
    nuggets = _strings(given.partition(": ")[2])
    if nuggets is None:
        return None
    passages = _NUMBERED.split(rest.rpartition("\nQuery: ")[0])
    most, words = _MOST.search(rules), _WORDS.search(rules)
    return Asked(
        "creation",
        query,
        passages=tuple(text.strip() for text in passages if text.strip()),
        nuggets=nuggets,
        most=int(most[1]) if most else Asked._field_defaults["most"],
        words=int(words[1]) if words else Asked._field_defaults["words"],
    )


def _strings(text: str) -> tuple[str, ...] | None:
    """Return the JSON list of strings that a text begins with, or None."""
    try:
        value: Any = json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None
    return tuple(value) if isinstance(value, list) and all(isinstance(entry, str) for entry in value) else None
