"""Prompts: what a job sends to a model, what may be filled in, and how the reply is read.

A text of a prompt has a part under `# system` and one under `# user`, with placeholders such as ${query}. It may begin
with `# reply: ` and one of its prompt's readers.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from string import Template
from typing import Any, Generic, NamedTuple, TypeVar

from assessor.campaigns.models import Campaign, Topic

Value = TypeVar("Value")
Message = dict[str, str]  # {"role", "content"}

# About how many tokens a label takes, by which estimates are made before anything is known.
TOKENS_LABEL = 6
_PARTS = re.compile(
    r"\A\s*(?:# reply: ([a-z]+(?: [a-z]+)*)[ \t]*\n\s*)?# system[ \t]*\n(.*?)^# user[ \t]*\n(.*)\Z",
    re.DOTALL | re.MULTILINE,
)


class PromptSetError(Exception):
    """There is no such prompt set, or it can't be used; the text names the file, says why and what to do."""


class PreviewError(Exception):
    """A prompt can't be put together for this topic; the text says what is lacking."""


class PromptRequest(NamedTuple, Generic[Value]):
    """One request to a model. name: of the prompt; schema: the JSON schema of the reply, for endpoints that hold a
    model to one; empty where the prompt itself says how its reply is read.

    tokens_out: about how long the reply will be. read turns its text into a value, or raises replies.WrongAnswer.
    """

    name: str
    messages: list[Message]
    schema: dict[str, Any]
    tokens_out: int
    read: Callable[[str], Value]

    @property
    def characters(self) -> int:
        """How many characters are sent."""
        return sum(len(message["content"]) for message in self.messages)


class PreviewSubject(NamedTuple):
    """What a preview is made from, by the names that the campaign uses; each prompt takes what it needs.

    condition: whose bank of the topic, or whose threshold and, without qrels, grades; run: whose answer; sentence: of
    that answer, from 1.
    """

    topic: str
    qrels: str = ""
    condition: str = ""
    run: str = ""
    docid: str = ""
    sentence: int = 1


class Preview(NamedTuple):
    """A request as it would be sent, and in a sentence what it was made from. reader: that the prompt names, or ""."""

    request: PromptRequest[Any]
    made_from: str
    reader: str = ""


class PublishedTemplate(NamedTuple):
    """A form in which a prompt was published. reader: of its replies; names: our placeholders by those of the file."""

    reader: str
    names: Mapping[str, str]


class Prompt(Generic[Value]):
    """A prompt of one or more kinds of job. Subclasses add the function that makes its requests.

    needed, allowed: the placeholders that a text must have, and those that it may have; spellings: further ones, each
    with the placeholder that it can replace. readers: how replies can be read, for texts that name one. vocabulary: the
    labels or grades of replies, empty for free text. longest: the placeholder whose text may hold anything, lines of
    the prompt too. published: forms of published YAML files, by their method; published_text: of published text files.
    """

    name: str
    needed: frozenset[str]
    allowed: frozenset[str] = frozenset()
    spellings: Mapping[str, str] = {}
    readers: tuple[str, ...] = ()
    vocabulary: tuple[str, ...] | tuple[int, ...] = ()
    longest: str = ""
    published: Mapping[str, PublishedTemplate] = {}
    published_text: PublishedTemplate | None = None

    def preview(self, campaign: Campaign, topic: Topic, prompts: "PromptSet", subject: PreviewSubject) -> Preview:
        """Return what a job would send for a topic first. Raises PreviewError."""
        raise NotImplementedError

    def rehearse(self, values: Mapping[str, str]) -> object:
        """Return what the rehearsal endpoint replies, or None where the values can't be read.

        values: what was filled in, by placeholder, and as "reader" which one the text names, or "". The same values
        give the same reply.
        """
        raise NotImplementedError

    def trial(self, prompts: "PromptSet") -> PromptRequest[Value] | None:
        """Return a small request with which a judge can be tried, if the prompt has one."""
        return None

    def check(self, file: str, text: str) -> None:
        """Raise PromptSetError for a text that lacks a part or a placeholder, or has one that nothing fills in."""
        reader, *templates = parts(file, text)
        if reader and reader not in self.readers:
            raise PromptSetError(
                f"{file}: '# reply: {reader}' is no way to read this reply; write {' or '.join(self.readers)}."
            )
        template = Template("".join(templates))
        if not template.is_valid():
            raise PromptSetError(f"{file}: a $ stands alone; write $$ for a dollar sign.")
        used = {name: self.spellings.get(name, name) for name in template.get_identifiers()}
        if lacking := self.needed - set(used.values()):
            raise PromptSetError(f"{file} lacks {_in_braces(lacking)}.")
        known = self.needed | self.allowed
        if odd := {name for name, ours in used.items() if ours not in known}:
            raise PromptSetError(
                f"{file} names {_in_braces(odd)}, which nothing fills in; it may use {_in_braces(known)}."
            )


class PromptSet(NamedTuple):
    """Texts of prompts, by the prompt's name. A set may lack prompts."""

    name: str
    texts: dict[str, str]

    def require(self, needed: Iterable[Prompt[Any]], by: str) -> None:
        """Raise PromptSetError where the set lacks a prompt. by: the job that needs them."""
        lacking = [f"{prompt.name}.md" for prompt in needed if prompt.name not in self.texts]
        if lacking:
            raise PromptSetError(
                f"The prompt set {self.name} lacks {' and '.join(lacking)}, which {by} needs. Choose another prompt "
                "set in the judge's settings, or add the file to a set in a folder."
            )

    def hashes(self, prompts: Iterable[Prompt[Any]]) -> dict[str, str]:
        """Return the sha256 of the texts of some prompts, by name."""
        return {prompt.name: sha256_of(self.texts[prompt.name]) for prompt in prompts}

    def messages(self, name: str, values: Mapping[str, object]) -> list[Message]:
        """Return what is sent: the two parts of a text, filled in. What is filled in is never read again."""
        _, system, user = parts(f"{name}.md", self.texts[name])
        filled = [
            (role, Template(part).substitute(values).strip()) for role, part in (("system", system), ("user", user))
        ]
        return [{"role": role, "content": content} for role, content in filled if content]

    def reader(self, name: str) -> str:
        """Return which reader the text of a prompt names, or "" where it names none."""
        return parts(f"{name}.md", self.texts[name])[0]


def sha256_of(text: str) -> str:
    """Return the sha256 of a text in UTF-8: that of the file that it was read from."""
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=64)  # the same few for each of many thousand requests
def parts(file: str, text: str) -> tuple[str, str, str]:
    """Return the reader that a text names ("" where none), its system part and its user part. Raises PromptSetError."""
    found = _PARTS.match(text.replace("\r\n", "\n"))
    if found is None or not found[3].strip():
        raise PromptSetError(
            f"{file} needs a part under '# system', which may be empty, and after it one under '# user'."
        )
    return found[1] or "", found[2], found[3]


def list_schema(key: str, items: dict[str, Any], least: int, most: int) -> dict[str, Any]:
    """Return the JSON schema of an object whose only key holds a list of `least` to `most` items."""
    return object_schema(key, {"type": "array", "items": items, "minItems": least, "maxItems": most})


def object_schema(key: str, value: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with one key."""
    return {"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": False}


def _in_braces(some: Iterable[str]) -> str:
    return ", ".join(f"${{{name}}}" for name in sorted(some))
