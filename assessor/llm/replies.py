"""Reading what a model wrote: tolerant of how a list is written, strict about what is in it.

A reading is never guessed: whatever could be a part of the answer, or another answer, is a WrongAnswer.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

_MOST_CHARACTERS = 200_000
_SHOWN = 60  # characters of what a model wrote, in the reason that it is shown

# A text in quotes of any kind that models use. Single ones may have apostrophes inside: a quote after a letter that is
# not where the text could end.
_QUOTED = {
    opening: re.compile(rf"{opening}((?:[^{closing}\\\n]|\\.)*+){closing}")
    for opening, closing in (('"', '"'), ("“", "”"), ("„", "“"), ("”", "”"), ("«", "»"), ("»", "«"))
} | {
    opening: re.compile(rf"{opening}((?:[^{closing}\\\n]|\\.|(?<=\w){closing}(?!\s*(?:[,\]]|\Z)))*+){closing}")
    for opening, closing in (("'", "'"), ("‘", "’"), ("‚", "‘"))  # noqa: RUF001
}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|(.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_BLANKS = re.compile(r"\s+")
_BARE = re.compile(r"[^\[\],\n]+")  # a number, null, words without quotes
_KEY = re.compile(r"""["'](\w+)["']\s*:\s*\Z""")
_ENTRY = re.compile(r"(?:\(?(\d{1,3})[.):]|[-*•–])\s+(\S.*)")  # noqa: RUF001  # of a numbered or dotted list
_FENCED = re.compile(r"\s*```\w*\s(.*)```\s*", re.DOTALL)
_SCORE = re.compile(r"##\s*final score\s*:([^\n]*)", re.IGNORECASE)
_SCORE_IN_JSON = re.compile(r'"final_score"\s*:([^,}\n]*)')
_LABEL_IN_JSON = re.compile(r'\{\s*"label"\s*:\s*"([^"]*)"\s*\}')


_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_WORD = re.compile(r"\w+")
_SEVERAL = 'There are several lists that differ; reply with one alone, as ["...", "..."]'


_Listed = tuple[list[str | None], str]  # the entries, and the text that follows them


class WrongAnswer(Exception):
    """The model's answer can't be used; the text says why, in words that the model itself is shown."""


def nuggets(text: str, most: int) -> list[str]:
    """Return a list of 1 to `most` texts, blanks folded. Raises WrongAnswer."""
    found = [" ".join(entry.split()) for entry in _strings(text, "nuggets")[0]]
    if not found or not all(found):
        raise WrongAnswer("The list must have at least one nugget, and none may be empty.")
    if len(found) > most:
        raise WrongAnswer(f"The list has {len(found)} nuggets; at most {most} are allowed.")
    for place, nugget in enumerate(found, start=1):
        if any(unicodedata.category(character) in ("Cc", "Cs") for character in nugget):
            raise WrongAnswer(f"Nugget {place} has a character in it that is no text: {_shown(nugget)}.")
    return found


def labels(text: str, vocabulary: Sequence[str], count: int) -> list[str]:
    """Return `count` labels of the vocabulary, in order. Raises WrongAnswer."""
    found, after = _strings(text, "labels")
    if any(word in vocabulary for word in _WORD.findall(after.lower())):
        raise WrongAnswer("What follows the list names labels too; reply with the list alone.")
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
    _check_length(text)
    scores = {score.strip(" \t\r*`.") for score in _SCORE.findall(text) + _SCORE_IN_JSON.findall(text)}
    if len(scores) != 1:
        raise WrongAnswer("The reply must name one grade, as ##final score: GRADE")
    [score] = scores
    if score not in [str(one) for one in grades]:
        raise WrongAnswer(f"The final score is {_shown(score)}; it must be one of {', '.join(map(str, grades))}.")
    return int(score)


def label(text: str, vocabulary: Sequence[str]) -> str:
    """Return the one label that is the whole reply, but for quotes, a full stop and case. Raises WrongAnswer."""
    _check_length(text)
    fenced = _FENCED.fullmatch(text)
    found = (fenced[1] if fenced else text).strip()
    in_json = _LABEL_IN_JSON.fullmatch(found)
    cleaned = (in_json[1] if in_json else found).strip(" \"'“”‘’`*[].").lower().replace("_", " ")  # noqa: RUF001
    if cleaned not in vocabulary:
        raise WrongAnswer(f"The reply is {_shown(found)}; it must be one of {', '.join(vocabulary)}, and nothing else.")
    return cleaned


def _strings(text: str, key: str) -> tuple[list[str], str]:
    """Return the strings of the only list in a text, and what follows it; what stands between marks of thought is none.

    key: that of the list where it stands in an object. Raises WrongAnswer where there is no list, or one that holds
    anything but strings, or that is not whole, or several that differ: which one is meant can't be told.
    """
    _check_length(text)
    text = _THOUGHTS.sub("", text)
    listed = _in_brackets(text, key) or _in_lines(text)
    if listed is None:
        raise WrongAnswer('The reply holds no list of quoted texts; write it as ["...", "..."]')
    found, after = listed
    strings = [entry for entry in found if entry is not None]
    if len(strings) < len(found):
        raise WrongAnswer(f"Entry {found.index(None) + 1} of the list is no quoted text; each must be one.")
    return strings, after


def _check_length(text: str) -> None:
    if len(text) > _MOST_CHARACTERS:
        raise WrongAnswer(f"The reply has {len(text):,} characters; that is too long.")


class _Bracket(NamedTuple):
    """What was read from a bracket on. entries: None stands for anything but a text in quotes."""

    entries: list[str | None]
    is_whole: bool
    has_quotes: bool
    end: int


def _in_brackets(text: str, key: str) -> _Listed | None:
    """Return the list of a text that has quotes in it or nothing at all; others are citations, asides."""
    found: list[str | None] | None = None
    begin = end = 0
    start = text.find("[")
    while start >= 0:
        bracket = _bracket(text, start)
        of_key = _KEY.search(text, max(0, start - 80), start)
        if bracket.has_quotes and not bracket.is_whole:
            raise WrongAnswer('The list is cut off or not written as ["...", "..."]')
        if bracket.is_whole and (bracket.has_quotes or not bracket.entries) and (not of_key or of_key[1] == key):
            if found is not None and found != bracket.entries:
                raise WrongAnswer(_SEVERAL)
            found, begin, end = bracket.entries, start, bracket.end
        start = text.find("[", bracket.end)
    line = text[text.rfind("\n", 0, begin) + 1 : begin].strip()
    if _ENTRY.match(line + " ["):
        raise WrongAnswer('There is a list within a list; write it as ["...", "..."]')
    if found is not None and any(_ENTRY.fullmatch(line.strip()) for line in (text[:begin] + text[end:]).splitlines()):
        raise WrongAnswer(_SEVERAL)
    return None if found is None else (found, text[end:])


def _bracket(text: str, start: int) -> _Bracket:
    """Read on from a bracket to where it closes, or to where it can't be a list any more. A list in it is no text."""
    entries: list[str | None] = []
    depth, has_quotes, is_expected, place = 1, False, True, start + 1
    while True:
        place = _end_of_blanks(text, place)
        character = text[place : place + 1]
        if character == "]":
            depth, is_expected, place = depth - 1, False, place + 1
            if depth == 0:
                return _Bracket(entries, True, has_quotes, place)
        elif character == "," and not is_expected:
            is_expected, place = True, place + 1
        elif character == "[" and is_expected:
            if depth == 1:
                entries.append(None)
            depth, place = depth + 1, place + 1
        elif character not in ("", ",", "[") and is_expected:
            has_quotes = has_quotes or character in _QUOTED
            entry = _QUOTED.get(character, _BARE).match(text, place)
            if entry is None:
                return _Bracket(entries, False, has_quotes, place)
            if depth == 1:
                entries.append(_unescaped(entry[1]) if character in _QUOTED else None)
            is_expected, place = False, entry.end()
        else:
            return _Bracket(entries, False, has_quotes, place)


def _end_of_blanks(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    return found.end() if found else place


def _in_lines(text: str) -> _Listed | None:
    """Return the entries of a numbered or dotted list, a line each, or None where there is none.

    A line in between that is no entry may belong to the one before: then the list can't be told.
    """
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith("```")]
    found = [_ENTRY.fullmatch(line) for line in lines]
    places = [place for place, entry in enumerate(found) if entry]
    if not places:
        return None
    numbers = [entry[1] for entry in found if entry]
    if numbers.count("1") > 1:
        raise WrongAnswer(_SEVERAL)
    counted = [str(number) for number in range(1, len(numbers) + 1)]
    is_whole = numbers == counted if numbers[0] else not any(numbers)
    between = [lines[place] for place in range(places[0], places[-1]) if not found[place]]
    if not is_whole or any(between) or any(lines[places[-1] + 1 : places[-1] + 2]):
        raise WrongAnswer('The list is not one entry a line, or not whole; write it as ["...", "..."]')
    after = "\n".join(lines[places[-1] + 1 :])
    return [_unquoted(entry[2]) for place in places if (entry := found[place])], after


def _unquoted(entry: str) -> str:
    """Return an entry without the quotes around it and the comma behind them."""
    bare = entry.removesuffix(",").rstrip()
    quoted = _QUOTED[bare[0]].fullmatch(bare) if bare and bare[0] in _QUOTED else None
    return _unescaped(quoted[1]) if quoted else entry


def _unescaped(text: str) -> str:
    """Return a text with what stands behind backslashes put in place, as JSON and Python have it."""
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_character, text)
    try:  # two halves of a character make one
        return plain.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return plain


def _character(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else _ESCAPED.get(found[4], found[4])


def _shown(value: str) -> str:
    text = repr(value[:_SHOWN])
    return text if len(value) <= _SHOWN and len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
