"""The five questions that are put to a model: what is sent, in which form the answer must come, and how it is read."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from assessor.llm import replies
from assessor.llm.prompt_sets import LAST_LINE_SCORE, TWO_LABEL_LIST, Message, PromptSet

Answer = TypeVar("Answer")

IMPORTANCE = ("vital", "okay")
ASSIGNMENT = ("support", "partial_support", "not_support")
TWO_LABELS = ("support", "not_support")
SUPPORT = ("full support", "partial support", "no support")
GRADES = (0, 1, 2, 3)
# About how many tokens a nugget of a list and a label take, by which estimates are made before anything is known.
TOKENS_NUGGET = 16
TOKENS_LABEL = 6


class Question(NamedTuple, Generic[Answer]):
    """What is asked. schema: the JSON schema of the answer, for endpoints that hold a model to one; empty where the
    prompt itself says how its reply is read.

    tokens_out: about how long the answer will be. read turns the text that came back into the answer, or raises
    replies.WrongAnswer with the reason.
    """

    name: str
    messages: list[Message]
    schema: dict[str, Any]
    tokens_out: int
    read: Callable[[str], Answer]


def creation(
    prompts: PromptSet, *, query: str, passages: Sequence[str], nuggets: Sequence[str], most: int, words: int
) -> Question[list[str]]:
    """Ask for the list of nuggets brought up to date with a window of passages: `most` strings, or as many as come."""
    numbered = "\n".join(f"[{number}] {' '.join(text.split())}" for number, text in enumerate(passages, start=1))
    values = {
        "query": query,
        "passages": numbered,
        "raw_passages": "\n".join(f"[{number}] {text}" for number, text in enumerate(passages, start=1)),
        **_spelt(nuggets),
        "count": len(nuggets),
        "most": most,
        "words": words,
    }
    # Some endpoints refuse a schema with minLength.
    schema = {} if prompts.reader("creation") else _list_schema("nuggets", {"type": "string"}, 1, most)
    messages = prompts.messages("creation", values)
    return Question("creation", messages, schema, most * TOKENS_NUGGET, replies.nuggets)


def importance(prompts: PromptSet, *, query: str, nuggets: Sequence[str]) -> Question[list[str]]:
    """Ask how important each nugget is: a label of IMPORTANCE for each, in order."""
    return _labels(prompts, "importance", IMPORTANCE, nuggets, {"query": query})


def assignment(prompts: PromptSet, *, query: str, answer: str, nuggets: Sequence[str]) -> Question[list[str]]:
    """Ask which nuggets an answer contains: a label of ASSIGNMENT for each, in order."""
    vocabulary = TWO_LABELS if prompts.reader("assignment") == TWO_LABEL_LIST else ASSIGNMENT
    return _labels(prompts, "assignment", vocabulary, nuggets, {"query": query, "answer": answer})


def relevance(prompts: PromptSet, *, query: str, passage: str) -> Question[int]:
    """Ask how relevant a passage is to a query: a grade of GRADES."""
    grade = {"type": "integer", "enum": list(GRADES)}
    reader = prompts.reader("relevance")
    schema = {} if reader else _object_schema("final_score", grade)
    read = replies.last_line_grade if reader == LAST_LINE_SCORE else replies.grade
    messages = prompts.messages("relevance", {"query": query, "passage": passage})
    return Question("relevance", messages, schema, TOKENS_LABEL, lambda text: read(text, GRADES))


def support(prompts: PromptSet, *, sentence: str, passage: str) -> Question[str]:
    """Ask how far a passage supports a sentence: one of SUPPORT."""
    label = {"type": "string", "enum": list(SUPPORT)}
    schema = {} if prompts.reader("support") else _object_schema("label", label)
    messages = prompts.messages("support", {"sentence": sentence, "passage": passage})
    return Question("support", messages, schema, TOKENS_LABEL, lambda text: replies.label(text, SUPPORT))


def _labels(
    prompts: PromptSet, name: str, vocabulary: Sequence[str], nuggets: Sequence[str], values: dict[str, object]
) -> Question[list[str]]:
    count = len(nuggets)
    messages = prompts.messages(name, values | _spelt(nuggets) | {"count": count})
    label = {"type": "string", "enum": list(vocabulary)}
    schema = {} if prompts.reader(name) else _list_schema("labels", label, count, count)
    return Question(name, messages, schema, count * TOKENS_LABEL, lambda text: replies.labels(text, vocabulary, count))


def _spelt(nuggets: Sequence[str]) -> dict[str, str]:
    """Return a list of nuggets as JSON and as Python writes it."""
    return {"nuggets": json.dumps(list(nuggets), ensure_ascii=False), "python_nuggets": repr(list(nuggets))}


def _list_schema(key: str, items: dict[str, Any], least: int, most: int) -> dict[str, Any]:
    return _object_schema(key, {"type": "array", "items": items, "minItems": least, "maxItems": most})


def _object_schema(key: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": False}
