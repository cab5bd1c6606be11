"""How the rehearsal endpoint spells its answers: as asked for, in forms that must be understood too, and wrongly."""

import itertools
import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from assessor.llm.rehearsal.outcomes import Fate
from assessor.llm.rehearsal.recognition import Answer

Form = TypeVar("Form")

_NO_ANSWER = "This is a rehearsal with no model behind it: it cannot tell what this prompt asks."
_GARBAGE = (
    "I would rather not answer that.",
    "There are many sides to this, and it all depends.",
    '{"error": "overloaded"',
    "\N{REPLACEMENT CHARACTER}" * 40,
    "",
)
_BEGINNING = b'{"choices": [{"message": {"role": "assistant", "content": "'
_WORDS = b"and so on " * 6_400
_WRONG_LABELS = ("failed", "", "unclear", "a fact of its own", "mostly_support", "SUPPORTS?", "minor", "3 of 4")
_WRONG_GRADES = (7, -1, 2.5, 10)


def reply(answer: Answer | None, key: str, fate: Fate) -> tuple[str, str]:
    """Return the text of a reply and what it is: a fate that can't befall this prompt leaves the answer right.

    key: of the JSON object that a schema asks for, or "".
    """
    if answer is None:
        return _NO_ANSWER, "unknown"
    if fate.what == "garbage":
        return _one(_GARBAGE, fate), "garbage"
    if fate.what == "short":
        return _short(answer, key), "short"
    if fate.what == "wrong_label":
        return _spelt(_wrong(answer, fate), key), "wrong_label"
    if fate.what == "fenced":
        return _otherwise(answer.value, key, fate), "fenced"
    return _spelt(answer.value, key), fate.what


def endless() -> Iterator[bytes]:
    """Yield a reply that never ends."""
    return itertools.chain((_BEGINNING,), itertools.repeat(_WORDS))


def gzip_bomb() -> Iterator[bytes]:
    """Yield 2 MB that unpacks to 1 GB, and ends there."""
    packer = zlib.compressobj(wbits=31)
    yield packer.compress(_BEGINNING) + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush the same bytes unpack to the same words, wherever they are repeated.
    words = packer.compress(_WORDS * 16) + packer.flush(zlib.Z_FULL_FLUSH)
    yield from itertools.repeat(words, 1_000)


def _spelt(value: object, key: str) -> str:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if key:
        return json.dumps(_under(key, value), ensure_ascii=False)
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return str(value) if isinstance(value, str) else f"##final score: {value}"


def _under(key: str, value: object) -> dict[str, object]:
    """Return the object that a schema asks for; a single label that is a grade is a number there."""
    return {key: int(value) if isinstance(value, str) and value.isdecimal() else value}


def _short(answer: Answer, key: str) -> str:
    """Return a list of labels without its last entry, texts broken off; nothing for a single grade or label."""
    if isinstance(answer.value, dict):
        return _spelt(answer.value, key).rstrip("}")
    if not isinstance(answer.value, list):
        return ""
    if not answer.prompt.vocabulary:
        return _spelt(answer.value, key).rstrip('}]"')
    return _spelt(answer.value[:-1], key)


def _wrong(answer: Answer, fate: Fate) -> object:
    value = answer.value
    if isinstance(value, dict):
        return {name: _one((None, [], {}), fate) for name in value}
    if isinstance(value, int):
        return _one(_WRONG_GRADES, fate)
    label = _one(_WRONG_LABELS, fate)
    if isinstance(value, str):
        return label
    place = fate.choice % max(1, len(value))
    # Any text will do where there is no vocabulary, but for an empty one.
    odd = label if answer.prompt.vocabulary else ""
    return [*value[:place], odd, *value[place + 1 :]]


def _otherwise(value: Any, key: str, fate: Fate) -> str:
    """Return the right answer in another form than was asked for."""
    plain = _spelt(value, key)
    forms = [f"```json\n{plain}\n```" if key else f"```\n{plain}\n```"]
    if isinstance(value, dict):
        forms.append(json.dumps(value, ensure_ascii=False, indent=2))
    elif key:
        forms.append(json.dumps(_under(key, value), ensure_ascii=False, indent=2))
    elif isinstance(value, list):
        forms += [
            repr(value),
            "[" + ", ".join(f"“{entry}”" for entry in value) + "]",
            "\n".join(f"{place}. {entry}" for place, entry in enumerate(value, start=1)),
            f"Here is the list that you asked for [1]:\n\n{plain}\n\nI hope that this helps.",
        ]
    elif isinstance(value, str):
        forms += [f'"{value}"', f"**{value.capitalize()}.**", value.upper()]
    else:
        forms += [f"**{plain}**", f"The passage and the query were compared.\n\n{plain}", plain.title()]
    return _one(forms, fate)


def _one(forms: Sequence[Form], fate: Fate) -> Form:
    return forms[fate.choice % len(forms)]
