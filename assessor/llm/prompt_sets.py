"""Prompt sets: five texts, one a question, each set known by the hash of its content.

A set is a folder of creation.md, importance.md, assignment.md, relevance.md and support.md, or a campaign's own, made
of published templates. A text has a part under `# system` and one under `# user`; ${query} and the like are filled in
(see NAMES). It may begin with `# reply: ` and one of READERS. Folders are looked for beside this module and in the
folder that ASSAY_PROMPT_SETS names.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from string import Template
from typing import NamedTuple

from django.conf import settings

from assessor.collection.models import Campaign
from assessor.llm.models import PROMPT_SET_NAME, CampaignPromptSet

OWN = "assay-1"
MOST_BYTES = 100_000  # of a file
_OWN = Path(__file__).parent / "prompts"
_PARTS = re.compile(
    r"\A\s*(?:# reply: ([a-z]+(?: [a-z]+)*)[ \t]*\n\s*)?# system[ \t]*\n(.*?)^# user[ \t]*\n(.*)\Z",
    re.DOTALL | re.MULTILINE,
)

# What each question needs, and what it may use besides.
NAMES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "creation": (frozenset({"query", "passages", "nuggets"}), frozenset({"count", "most", "words"})),
    "importance": (frozenset({"query", "nuggets"}), frozenset({"count"})),
    "assignment": (frozenset({"query", "answer", "nuggets"}), frozenset({"count"})),
    "relevance": (frozenset({"query", "passage"}), frozenset()),
    "support": (frozenset({"sentence", "passage"}), frozenset()),
}

# Other spellings of names: the list of nuggets as Python writes it, and passages with their line breaks.
SPELLINGS = {"python_nuggets": "nuggets", "raw_passages": "passages"}

# How replies to a question are read, for texts that name it; no schema of the answer goes along with these.
NUGGET_LIST, LABEL_LIST, TWO_LABEL_LIST = "list of nuggets", "list of labels", "list of two labels"
SCORE, LAST_LINE_SCORE, LABEL = "score", "score on the last line", "label"
READERS = {
    "creation": (NUGGET_LIST,),
    "importance": (LABEL_LIST,),
    "assignment": (LABEL_LIST, TWO_LABEL_LIST),
    "relevance": (SCORE, LAST_LINE_SCORE),
    "support": (LABEL,),
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
        _, system, user = parts(f"{question}.md", self.texts[question])
        filled = [
            (role, Template(part).substitute(values).strip()) for role, part in (("system", system), ("user", user))
        ]
        return [{"role": role, "content": content} for role, content in filled if content]

    def reader(self, question: str) -> str:
        """Return which of READERS the text of a question names, or "" where it names none."""
        return parts(f"{question}.md", self.texts[question])[0]


def prompt_set(name: str, campaign: Campaign | None = None) -> PromptSet:
    """Return the prompt set of this name, of a campaign or as it is on disk now. Raises PromptSetError."""
    made = CampaignPromptSet.objects.filter(campaign=campaign, name=name).first() if campaign and name != OWN else None
    if made:
        return checked(name, made.texts)
    if name not in names():
        raise PromptSetError(f"There is no prompt set called {name}.")
    folder = next(path for path in _folders() if path.name == name)
    return checked(name, {question: _read(folder / f"{question}.md") for question in NAMES})


def checked(name: str, texts: dict[str, str]) -> PromptSet:
    """Return texts as a prompt set. Raises PromptSetError for a file that lacks a part or a name, or has an odd one."""
    for question, text in texts.items():
        file = f"{name}/{question}.md"
        needed, allowed = NAMES[question]
        reader, *templates = parts(file, text)
        if reader and reader not in READERS[question]:
            raise PromptSetError(
                f"{file}: '# reply: {reader}' is no way to read this reply; write {' or '.join(READERS[question])}."
            )
        template = Template("".join(templates))
        if not template.is_valid():
            raise PromptSetError(f"{file}: a $ stands alone; write $$ for a dollar sign.")
        used = set(template.get_identifiers())
        if lacking := needed - {SPELLINGS.get(name, name) for name in used}:
            raise PromptSetError(f"{file} lacks {_spelt(lacking)}.")
        if odd := {name for name in used if SPELLINGS.get(name, name) not in needed | allowed}:
            raise PromptSetError(
                f"{file} names {_spelt(odd)}, which nothing fills in; it may use {_spelt(needed | allowed)}."
            )
    return PromptSet(name, sha256_of(texts), texts)


def names(campaign: Campaign | None = None) -> list[str]:
    """Return the names of the prompt sets there are, the project's own first, then a campaign's."""
    own, *dropped_in = (folder.name for folder in _folders())
    made = CampaignPromptSet.objects.filter(campaign=campaign).values_list("name", flat=True) if campaign else ()
    return list(dict.fromkeys((own, *made, *dropped_in)))


def _folders() -> Iterator[Path]:
    seen = set()
    for place in (_OWN, settings.PROMPT_SETS):
        for folder in sorted(path for path in place.glob("*/") if re.match(PROMPT_SET_NAME, path.name)):
            if folder.name not in seen:  # a folder can't take the place of one of the project's own
                seen.add(folder.name)
                yield folder


def _read(path: Path) -> str:
    file = f"{path.parent.name}/{path.name}"
    if not path.is_file():  # a device or a pipe would be read for ever
        raise PromptSetError(f"{file} is missing.")
    try:
        with path.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise PromptSetError(f"{file} is larger than {MOST_BYTES:,} bytes.")
        return data.decode()
    except OSError as error:
        raise PromptSetError(f"{file} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise PromptSetError(f"{file} is not UTF-8.") from error


@lru_cache(maxsize=64)  # the same few for each of many thousand questions
def parts(file: str, text: str) -> tuple[str, str, str]:
    """Return the reader that a text names ("" where none), its system part and its user part. Raises PromptSetError."""
    found = _PARTS.match(text.replace("\r\n", "\n"))
    if found is None or not found[3].strip():
        raise PromptSetError(
            f"{file} needs a part under '# system', which may be empty, and after it one under '# user'."
        )
    return found[1] or "", found[2], found[3]


def sha256_of(texts: Mapping[str, str]) -> str:
    """Return the sha256 of all files, each with its name and length, in the order of their names."""
    digest = hashlib.sha256()
    for question in sorted(texts):
        data = texts[question].encode()
        digest.update(f"{question}.md {len(data)}\n".encode() + data)
    return digest.hexdigest()


def _spelt(some: set[str] | frozenset[str]) -> str:
    return ", ".join(f"${{{name}}}" for name in sorted(some))
