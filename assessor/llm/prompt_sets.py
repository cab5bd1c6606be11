"""Prompt sets: folders of five files, one a question, each known by the hash of its content.

A set is a folder of creation.md, importance.md, assignment.md, relevance.md and support.md. A file has a part under
`# system` and one under `# user`; ${query} and the like are filled in (see NAMES). Sets are looked for beside this
module and in the folder that ASSAY_PROMPT_SETS names.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from string import Template
from typing import NamedTuple

from django.conf import settings

_OWN = Path(__file__).parent / "prompts"
_MOST_BYTES = 100_000  # of a file
_PARTS = re.compile(r"\A\s*# system[ \t]*\n(.*?)^# user[ \t]*\n(.*)\Z", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")

# What each question needs, and what it may use besides.
NAMES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "creation": (frozenset({"query", "passages", "nuggets"}), frozenset({"count", "most", "words"})),
    "importance": (frozenset({"query", "nuggets"}), frozenset({"count"})),
    "assignment": (frozenset({"query", "answer", "nuggets"}), frozenset({"count"})),
    "relevance": (frozenset({"query", "passage"}), frozenset()),
    "support": (frozenset({"sentence", "passage"}), frozenset()),
}

Message = dict[str, str]  # {"role", "content"}


class PromptSetError(Exception):
    """There is no such prompt set, or it can't be used; the text names the file and says why."""


class PromptSet(NamedTuple):
    """A prompt set as it was read. texts: the content of its files, by question; sha256: of all of them."""

    name: str
    sha256: str
    texts: dict[str, str]

    def messages(self, question: str, values: Mapping[str, object]) -> list[Message]:
        """Return what is sent: the two parts of a question's file, filled in. What is filled in is never read again."""
        system, user = _parts(f"{question}.md", self.texts[question])
        filled = [
            (role, Template(part).substitute(values).strip()) for role, part in (("system", system), ("user", user))
        ]
        return [{"role": role, "content": content} for role, content in filled if content]


def prompt_set(name: str) -> PromptSet:
    """Return the prompt set of this name as it is on disk now. Raises PromptSetError."""
    if name not in names():
        raise PromptSetError(f"There is no prompt set called {name}.")
    folder = next(path for path in _folders() if path.name == name)
    return checked(name, {question: _read(folder / f"{question}.md") for question in NAMES})


def checked(name: str, texts: dict[str, str]) -> PromptSet:
    """Return texts as a prompt set. Raises PromptSetError for a file that lacks a part or a name, or has an odd one."""
    for question, text in texts.items():
        file = f"{name}/{question}.md"
        needed, allowed = NAMES[question]
        template = Template("".join(_parts(file, text)))
        if not template.is_valid():
            raise PromptSetError(f"{file}: a $ stands alone; write $$ for a dollar sign.")
        used = set(template.get_identifiers())
        if lacking := needed - used:
            raise PromptSetError(f"{file} lacks {_spelt(lacking)}.")
        if odd := used - needed - allowed:
            raise PromptSetError(
                f"{file} names {_spelt(odd)}, which nothing fills in; it may use {_spelt(needed | allowed)}."
            )
    return PromptSet(name, sha256_of(texts), texts)


def names() -> list[str]:
    """Return the names of the prompt sets there are, the project's own first."""
    return [folder.name for folder in _folders()]


def _folders() -> Iterator[Path]:
    seen = set()
    for place in (_OWN, settings.PROMPT_SETS):
        for folder in sorted(path for path in place.glob("*/") if _NAME.fullmatch(path.name)):
            if folder.name not in seen:  # a folder can't take the place of one of the project's own
                seen.add(folder.name)
                yield folder


def _read(path: Path) -> str:
    file = f"{path.parent.name}/{path.name}"
    if not path.is_file():  # a device or a pipe would be read for ever
        raise PromptSetError(f"{file} is missing.")
    try:
        with path.open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise PromptSetError(f"{file} is larger than {_MOST_BYTES:,} bytes.")
        return data.decode()
    except OSError as error:
        raise PromptSetError(f"{file} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise PromptSetError(f"{file} is not UTF-8.") from error


@lru_cache(maxsize=64)  # the same few for each of many thousand questions
def _parts(file: str, text: str) -> tuple[str, str]:
    found = _PARTS.match(text.replace("\r\n", "\n"))
    if found is None or not found[2].strip():
        raise PromptSetError(
            f"{file} needs a part under '# system', which may be empty, and after it one under '# user'."
        )
    return found[1], found[2]


def sha256_of(texts: Mapping[str, str]) -> str:
    """Return the sha256 of all files, each with its name and length, in the order of their names."""
    digest = hashlib.sha256()
    for question in sorted(texts):
        data = texts[question].encode()
        digest.update(f"{question}.md {len(data)}\n".encode() + data)
    return digest.hexdigest()


def _spelt(some: set[str] | frozenset[str]) -> str:
    return ", ".join(f"${{{name}}}" for name in sorted(some))
