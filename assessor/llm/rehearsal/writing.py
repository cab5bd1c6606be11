"""Spelling an answer out: as asked for, in other ways that models have, or wrongly."""

import json
from collections.abc import Callable

from assessor.llm.rehearsal.answers import Value

_ELSEWHERE = ("failed", "", "key_material", "renaissance_support", "it depends on the reader")
_GARBAGE = (
    "I'm sorry, I can't help with that.",
    "Sure! Here is what I think about it: it is complicated.",
    '["an entry that never',
    "null",
    '{"error": "overloaded"}',
    "[1, 2, 3]",
    "",
)


def plainly(value: Value, question: str) -> str:
    """Return an answer in the form that the prompts ask for."""
    if question == "relevance":
        return f"##final score: {value}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def structured(value: Value, key: str) -> str:
    """Return an answer as the object of a JSON schema."""
    return json.dumps({key: value}, ensure_ascii=False)


def otherwise(value: Value, question: str, draw: int) -> str:
    """Return a right answer in one of the forms in which models write it unasked."""
    plain = plainly(value, question)
    if not isinstance(value, list):
        return f"```\n{plain}\n```" if question != "relevance" else f"The passage is of some use.\n\n{plain}"
    ways: tuple[Callable[[], str], ...] = (
        lambda: f"```json\n{plain}\n```",
        lambda: repr(value),
        lambda: "[" + ", ".join(f"“{entry}”" for entry in value) + "]",
        lambda: "\n".join(f"{number}. {entry}" for number, entry in enumerate(value, start=1)),
        lambda: f"Here is the list that you asked for:\n\n{plain}\n\nLet me know if you need anything else.",
    )
    return ways[draw % len(ways)]()


def garbage(draw: int) -> str:
    """Return something that is no answer at all."""
    return _GARBAGE[draw % len(_GARBAGE)]


def too_short(value: Value) -> Value:
    """Return a list without its last entry; of a single label or grade nothing is left."""
    return value[:-1] if isinstance(value, list) else ""


def outside(value: Value, question: str, draw: int) -> Value:
    """Return an answer with one label, grade or nugget that can't be."""
    if not isinstance(value, list):
        return 7 if question == "relevance" else _ELSEWHERE[draw % len(_ELSEWHERE)]
    wrong = "" if question == "creation" else _ELSEWHERE[draw % len(_ELSEWHERE)]
    at = draw % len(value) if value else 0
    return [*value[:at], wrong, *value[at + 1 :]]
