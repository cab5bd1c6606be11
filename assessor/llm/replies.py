"""Reading what a model wrote: tolerant of how a list is written, strict about what is in it."""

import ast
import json
import re
from collections.abc import Sequence
from typing import Any

# Quotes that models write instead of plain ones. Only tried where the plain reading fails: a nugget may hold them.
_TYPOGRAPHIC = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'"})  # noqa: RUF001
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)```", re.DOTALL)
_ENTRY = re.compile(r"\s*(?:\(?\d{1,3}[.):]|[-*•–])\s+(.*\S)\s*")  # noqa: RUF001
_SCORE = re.compile(r"##\s*final score\s*:\s*(\S+)", re.IGNORECASE)
_KEYS = ("nuggets", "labels", "final_score", "label")  # of the objects that our JSON schemas ask for


class WrongAnswer(Exception):
    """The model's answer can't be used; the text says why, in words that the model itself is shown."""


def nuggets(text: str, most: int) -> list[str]:
    """Return a list of 1 to `most` texts, blanks folded. Raises WrongAnswer."""
    found = [" ".join(entry.split()) for entry in _strings(text)]
    if not found or not all(found):
        raise WrongAnswer("The list must have at least one nugget, and none may be empty.")
    if any(char == "\x00" or "\ud800" <= char <= "\udfff" for entry in found for char in entry):
        raise WrongAnswer("A nugget holds NUL or half of a surrogate pair, which no database keeps as text.")
    if len(found) > most:
        raise WrongAnswer(f"The list has {len(found)} nuggets; at most {most} are allowed.")
    return found


def labels(text: str, vocabulary: Sequence[str], count: int) -> list[str]:
    """Return `count` labels of the vocabulary, in order. Raises WrongAnswer."""
    found = _strings(text)
    if len(found) != count:
        raise WrongAnswer(f"There are {len(found)} labels; there must be exactly {count}, one for each nugget.")
    cleaned = [entry.strip().lower() for entry in found]
    for place, entry in enumerate(cleaned, start=1):
        if entry not in vocabulary:
            raise WrongAnswer(
                f"Label {place} is {_shown(found[place - 1])}; it must be one of {', '.join(vocabulary)}."
            )
    return cleaned


def grade(text: str, grades: Sequence[int]) -> int:
    """Return the one final score that the text names (`##final score: 2`). Raises WrongAnswer."""
    value = _json_value(text)
    scores = [str(value)] if isinstance(value, int) and not isinstance(value, bool) else _SCORE.findall(text)
    if len(set(scores)) != 1:
        raise WrongAnswer("The reply must name one grade, as ##final score: GRADE")
    score = scores[0].rstrip(".*")
    if score not in [str(one) for one in grades]:
        raise WrongAnswer(f"The final score is {_shown(score)}; it must be one of {', '.join(map(str, grades))}.")
    return int(score)


def label(text: str, vocabulary: Sequence[str]) -> str:
    """Return the one label that is the whole reply, but for quotes, a full stop and case. Raises WrongAnswer."""
    value = _json_value(text)
    found = value if isinstance(value, str) else _unfenced(text)
    cleaned = found.translate(_TYPOGRAPHIC).strip().strip("\"'`*[]").rstrip(".").strip().lower().replace("_", " ")
    if cleaned not in vocabulary:
        raise WrongAnswer(f"The reply is {_shown(found)}; it must be one of {', '.join(vocabulary)}, and nothing else.")
    return cleaned


def _strings(text: str) -> list[str]:
    """Return the strings of the one list in a text. Raises WrongAnswer where there is none, or anything but strings."""
    value = _json_value(text)
    found = value if isinstance(value, list) else _list_in(_unfenced(text))
    if found is None:
        found = _lines(_unfenced(text))
    if found is None:
        raise WrongAnswer('The reply holds no list; write it as ["...", "..."]')
    for place, entry in enumerate(found, start=1):
        if not isinstance(entry, str):
            raise WrongAnswer(f"Entry {place} of the list is {_shown(entry)}; it must be a string.")
    return found


def _json_value(text: str) -> Any:
    """Return what a reply in JSON holds, taken out of an object of ours; None for anything else."""
    try:
        value = json.loads(_unfenced(text))
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _KEYS:
        return next(iter(value.values()))
    return value if isinstance(value, list) else None


def _unfenced(text: str) -> str:
    """Return what stands in the only code fence, or the whole text."""
    fenced = _FENCE.findall(text)
    return str(fenced[0] if len(fenced) == 1 else text).strip()


def _list_in(text: str) -> list[Any] | None:
    """Return the last list in brackets in a text, or None. A model that thinks aloud ends with what it means."""
    for variant in (text, text.translate(_TYPOGRAPHIC)):
        lists = [
            value for start in re.finditer(r"\[", variant) if (value := _list_from(variant, start.start())) is not None
        ]
        outer = [found for found, end in lists]
        if outer:
            return outer[-1]
    return None


def _list_from(text: str, start: int) -> tuple[list[Any], int] | None:
    """Read the list that begins at a bracket, as JSON or as Python writes it."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
        return (value, end) if isinstance(value, list) else None
    except (ValueError, RecursionError):
        pass
    for end in [found.end() for found in re.finditer(r"\]", text[start:])][-3:]:
        try:
            value = ast.literal_eval(text[start : start + end])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return (value, start + end) if isinstance(value, list) else None
    return None


def _lines(text: str) -> list[Any] | None:
    """Return the entries of a numbered or dotted list, a line each, or None where there is none."""
    found = [entry[1] for line in text.splitlines() if (entry := _ENTRY.fullmatch(line))]
    return [entry.translate(_TYPOGRAPHIC).strip("\"',") if _is_quoted(entry) else entry for entry in found] or None


def _is_quoted(entry: str) -> bool:
    return entry[:1] in "\"'“„‘«"  # noqa: RUF001


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
