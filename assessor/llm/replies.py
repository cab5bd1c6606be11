"""Reading what a model wrote: tolerant of how a list is written, strict about what is in it.

A reading is never guessed: whatever could be a part of the answer, or another answer, is a WrongAnswer.
"""

import json
import re
import unicodedata
from collections.abc import Container, Sequence
from typing import Any, NamedTuple

_MOST_CHARACTERS = 200_000
_SHOWN = 60  # characters of what a model wrote, in the reason that it is shown

# A text in quotes of any kind that models use. Single ones may have apostrophes inside: a quote after a letter that is
# not where the text could end. Each character fits one branch alone and an apostrophe is never the end, so that quotes
# that never close take linear time. Possessive quantifiers would do it too, but Python 3.11.2 gets them wrong.
_APOSTROPHE = r"(?<=\w){}(?!\s*(?:[,\]]|\Z))"
_QUOTED = {
    opening: re.compile(rf"{opening}((?:[^{closing}\\\n]|\\.)*){closing}")
    for opening, closing in (('"', '"'), ("“", "”"), ("„", "“"), ("”", "”"), ("«", "»"), ("»", "«"))
} | {
    opening: re.compile(rf"{opening}((?:[^{closing}\\\n]|\\.|{apostrophe})*)(?!{apostrophe}){closing}")
    for opening, closing in (("'", "'"), ("‘", "’"), ("‚", "‘"))  # noqa: RUF001
    for apostrophe in [_APOSTROPHE.format(closing)]
}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|(.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_BLANKS = re.compile(r"\s+")
_BARE = re.compile(r"[^\[\],\n]+")  # a number, null, words without quotes
_KEY = re.compile(r"""["'](\w+)["']\s*:\s*\Z""")
_ENTRY = re.compile(r"(?:\(?(\d{1,3})[.):]|[-*•–])\s+(\S.*)")  # noqa: RUF001  # of a numbered or dotted list
_FENCED = re.compile(r"\s*```\w*\s(.*)```\s*", re.DOTALL)
_SCORE = re.compile(r"final score[*`]*\s*:([^\n]*)", re.IGNORECASE)
# In the middle of a line it may be a score that the sentence denies.
_BEGINS_A_LINE = re.compile(r"(?:##\s*|^[\W\d]{0,20})final score", re.IGNORECASE | re.MULTILINE)
# In parentheses behind a score stands why, unless it names another one.
_WHY = re.compile(r"\((?!\W*or\b|.*(?:\d|\b(?:zero|one|two|three|four)\b)).*\)\Z", re.IGNORECASE)
_SCORE_IN_JSON = re.compile(r'"final_score"\s*:([^,}\n]*)')
_LABEL_IN_JSON = re.compile(r'\{\s*"(?:label|grade)"\s*:\s*(?:"([^"]*)"|(\d+))\s*\}')
_LABEL_MARK = re.compile(r"\A[*#\s]*(?:label|grade)s?(?: of \w+)?[*\s]*:[*\s]*", re.IGNORECASE)
_MARKS = " \t\r\"'“”‘’`*"  # noqa: RUF001
_DECORATION = _MARKS + "."
# Some endpoints open the thoughts themselves: a reply then has their end alone, on a line of its own.
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>|\A(?:(?!<think>).)*?\n</think>\s*\n", re.DOTALL)
_WORD = re.compile(r"\w+")
_SEVERAL = 'There are several lists that differ; reply with one alone, as ["...", "..."]'


_Listed = tuple[list[str | None], str]  # the entries, and the text that follows them


class WrongAnswer(Exception):
    """The model's answer can't be used; the text says why, in words that the model itself is shown."""


def texts(text: str, item: str, *, may_be_empty: bool = False) -> list[str]:
    """Return a list of texts, blanks folded; of at least one, unless it may be empty. Raises WrongAnswer.

    item: what the model is told that each text is; in JSON the list is under its plural.
    """
    found = [" ".join(entry.split()) for entry in _strings(text, f"{item}s")[0]]
    if not found and may_be_empty:
        return []
    if not found or not all(found):
        raise WrongAnswer(f"The list must have at least one {item}, and none may be empty.")
    for place, entry in enumerate(found, start=1):
        if any(unicodedata.category(character) in ("Cc", "Cs") for character in entry):
            raise WrongAnswer(f"{item.capitalize()} {place} has a character in it that is no text: {_shown(entry)}.")
    return found


def labels(text: str, vocabulary: Sequence[str], count: int, item: str) -> list[str]:
    """Return `count` labels of the vocabulary, in order, one for each item. Raises WrongAnswer."""
    known = _by_spelling(vocabulary)
    found, after = _strings(text, "labels", known)
    if any(word in vocabulary for word in _WORD.findall(after.lower())):
        raise WrongAnswer("What follows the list names labels too; reply with the list alone.")
    if len(found) != count:
        raise WrongAnswer(f"There are {len(found)} labels; there must be exactly {count}, one for each {item}.")
    for place, entry in enumerate(found, start=1):
        if _spelling(entry) not in known:
            raise WrongAnswer(f"Label {place} is {_shown(entry)}; it must be one of {', '.join(vocabulary)}.")
    return [known[_spelling(entry)] for entry in found]


def grade(text: str, grades: Sequence[int]) -> int:
    """Return the one final score that the text names (`##final score: 2`), or is. Raises WrongAnswer."""
    text = _without_thoughts(text)
    scores = _scores(text) or {_without_fence(text).lstrip(_MARKS).rstrip(_DECORATION)}
    if len(scores) != 1 or "" in scores or (_SCORE.search(text) and not _BEGINS_A_LINE.search(text)):
        raise WrongAnswer("The reply must name one grade, as ##final score: GRADE")
    [score] = scores
    if score not in [str(one) for one in grades]:
        raise WrongAnswer(f"The final score is {_shown(score)}; it must be one of {', '.join(map(str, grades))}.")
    return int(score)


def last_line_grade(text: str, grades: Sequence[int]) -> int:
    """Return the grade that is the last line, alone or behind a mark. Raises WrongAnswer, also for another one before.

    For prompts that ask for it there: in other replies a digit alone on the last line may be the end of a list.
    """
    text = _without_thoughts(text)
    _, _, last = _without_fence(text).rpartition("\n")
    try:
        found = grade(last, grades)
    except WrongAnswer as error:
        known = ", ".join(map(str, grades))
        raise WrongAnswer(f"The last line is {_shown(last)}; it must be one of {known}, and nothing else.") from error
    if _scores(text) - {str(found)}:
        raise WrongAnswer("The reply names several final scores; name one, on the last line.")
    return found


def _scores(text: str) -> set[str]:
    """Return what a text marks as final scores."""
    return {_score(after) for after in _SCORE.findall(text) + _SCORE_IN_JSON.findall(text)}


def _score(after: str) -> str:
    """Return what stands behind a mark of a score, without what says why."""
    score = after.lstrip(" \t*`").rstrip(" \t\r*`.")
    digit, why = score[:1], score[1:].lstrip(" \t*`.")
    return digit if _WHY.match(why) else score


def label(text: str, vocabulary: Sequence[str]) -> str:
    """Return the one label that is the whole reply, but for "Label:", marks and case; grades are labels too.

    Raises WrongAnswer.
    """
    known = _by_spelling(vocabulary)
    found = _without_fence(_without_thoughts(text))
    in_json = _LABEL_IN_JSON.fullmatch(found)
    label = (in_json[1] or in_json[2] or "") if in_json else _LABEL_MARK.sub("", found)
    cleaned = _spelling(label.strip(_DECORATION + "[]"))
    if cleaned not in known:
        raise WrongAnswer(f"The reply is {_shown(found)}; it must be one of {', '.join(vocabulary)}, and nothing else.")
    return known[cleaned]


def fields(text: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the one object in JSON that is the whole reply, with these fields and no others. Raises WrongAnswer."""
    expected = f"an object in JSON with {', '.join(names)}, and nothing else"
    try:
        found = json.loads(_without_fence(_without_thoughts(text)))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.keys() != set(names):
        raise WrongAnswer(f"The reply is {_shown(text)}; it must be {expected}.")
    return found


def _by_spelling(vocabulary: Sequence[str]) -> dict[str, str]:
    return {_spelling(word): word for word in vocabulary}


def _spelling(label: str) -> str:
    """Return a label in the one spelling for all: "Partial_Support" is "partial support"."""
    return " ".join(label.lower().replace("_", " ").split())


def _strings(text: str, key: str, bare: Container[str] = ()) -> tuple[list[str], str]:
    """Return the strings of the only list in a text, and what follows it.

    key: that of the list where it stands in an object; bare: the strings that need no quotes, by their spelling.
    Raises WrongAnswer where there is no list, or one that holds anything but strings, or that is not whole, or several
    that differ: which one is meant can't be told.
    """
    text = _without_thoughts(text)
    listed = _in_brackets(text, key, bare) or _in_lines(text) or _in_a_row(text, bare)
    if listed is None:
        raise WrongAnswer('The reply holds no list of quoted texts; write it as ["...", "..."]')
    found, after = listed
    strings = [entry for entry in found if entry is not None]
    if len(strings) < len(found):
        raise WrongAnswer(f"Entry {found.index(None) + 1} of the list is no quoted text; each must be one.")
    return strings, after


def _without_thoughts(text: str) -> str:
    """Return a reply without what stands between marks of thought. Raises WrongAnswer for one that is too long."""
    if len(text) > _MOST_CHARACTERS:
        raise WrongAnswer(f"The reply has {len(text):,} characters; that is too long.")
    text = _THOUGHTS.sub("", text)
    if text.lstrip().startswith("<think>"):
        raise WrongAnswer("The reply has no answer after its thoughts, or thoughts more than once.")
    return text


def _without_fence(text: str) -> str:
    fenced = _FENCED.fullmatch(text)
    return (fenced[1] if fenced else text).strip()


class _Bracket(NamedTuple):
    """What was read from a bracket on. entries: None stands for anything but a text."""

    entries: list[str | None]
    is_whole: bool
    has_texts: bool
    end: int


def _in_brackets(text: str, key: str, bare: Container[str]) -> _Listed | None:
    """Return the list of a text that has texts in it or nothing at all; others are citations, asides."""
    found: list[str | None] | None = None
    begin = end = 0
    start = text.find("[")
    while start >= 0:
        bracket = _bracket(text, start, bare)
        of_key = _KEY.search(text, max(0, start - 80), start)
        if bracket.has_texts and not bracket.is_whole:
            raise WrongAnswer('The list is cut off or not written as ["...", "..."]')
        if bracket.is_whole and (bracket.has_texts or not bracket.entries) and (not of_key or of_key[1] == key):
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


def _bracket(text: str, start: int, bare: Container[str]) -> _Bracket:
    """Read on from a bracket to where it closes, or to where it can't be a list any more. A list in it is no text."""
    entries: list[str | None] = []
    depth, has_texts, is_expected, place = 1, False, True, start + 1
    while True:
        place = _end_of_blanks(text, place)
        character = text[place : place + 1]
        if character == "]":
            depth, is_expected, place = depth - 1, False, place + 1
            if depth == 0:
                return _Bracket(entries, True, has_texts, place)
        elif character == "," and not is_expected:
            is_expected, place = True, place + 1
        elif character == "[" and is_expected:
            if depth == 1:
                entries.append(None)
            depth, place = depth + 1, place + 1
        elif character not in ("", ",", "[") and is_expected:
            has_texts = has_texts or character in _QUOTED
            entry = _QUOTED.get(character, _BARE).match(text, place)
            if entry is None:
                return _Bracket(entries, False, has_texts, place)
            is_bare = character not in _QUOTED and _spelling(entry[0]) in bare
            has_texts = has_texts or is_bare
            if depth == 1:
                entries.append(_unescaped(entry[1]) if character in _QUOTED else entry[0] if is_bare else None)
            is_expected, place = False, entry.end()
        else:
            return _Bracket(entries, False, has_texts, place)


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


def _in_a_row(text: str, bare: Container[str]) -> _Listed | None:
    """Return the entries where the whole reply is such strings, with commas or line breaks in between, or None."""
    row = _LABEL_MARK.sub("", _without_fence(text)).removesuffix(",")
    entries: list[str | None] = []
    for part in row.split(","):
        entries += [line.strip(_DECORATION) for line in part.splitlines() if line.strip()] or [""]
    return (entries, "") if all(entry is not None and _spelling(entry) in bare for entry in entries) else None


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
