"""Which prompt a request was made of, and what was filled in.

The prompts are those of the sets on disk when the endpoint starts. A request is recognised by the user part of a
prompt, word for word.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from string import Template
from typing import Any, NamedTuple

from assessor.llm.job_kind import job_prompts
from assessor.llm.prompt_sets import names, prompt_set
from assessor.llm.prompts import Prompt, PromptSet, PromptSetError, parts


class Answer(NamedTuple):
    """What is replied to a prompt, before it is spelled out."""

    prompt: Prompt[Any]
    value: Any


class Recognition:
    """The prompts that can be recognised."""

    def __init__(self) -> None:
        self._patterns = [
            (prompt, prompts.reader(name), _pattern(prompt, prompts.texts[name]))
            for prompts in _usable_sets()
            for name, prompt in job_prompts().items()
            if name in prompts.texts
        ]

    def answer(self, messages: Sequence[Mapping[str, str]]) -> Answer | None:
        """Return the answer to a conversation's first message of the user, or None for one that is no prompt."""
        text = next((message["content"] for message in messages if message["role"] == "user"), "")
        for prompt, reader, pattern in self._patterns:
            if found := pattern.fullmatch(text):
                values = {prompt.spellings.get(name, name): value for name, value in found.groupdict().items()}
                value = prompt.rehearse(values | {"reader": reader})
                return None if value is None else Answer(prompt, value)
        return None


def _usable_sets() -> Iterator[PromptSet]:
    for name in names():
        try:
            yield prompt_set(name)
        except PromptSetError:
            continue  # no job can send it either


def _pattern(prompt: Prompt[Any], text: str) -> re.Pattern[str]:
    """Return what matches the user part of a text, whatever is filled in.

    What is filled in may hold lines of the prompt. All of it that comes before the longest text ends as soon as it can,
    and that text as late as it can.
    """
    user = parts(f"{prompt.name}.md", text)[2].strip()
    pattern, end, known = "", 0, set()
    for found in Template.pattern.finditer(user):
        pattern += re.escape(user[end : found.start()])
        end = found.end()
        name = found["named"] or found["braced"]
        if name is None:
            pattern += re.escape("$")
        elif name in known:
            pattern += f"(?P={name})"
        else:
            known.add(name)
            pattern += f"(?P<{name}>.*{'' if prompt.spellings.get(name, name) == prompt.longest else '?'})"
    return re.compile(pattern + re.escape(user[end:]), re.DOTALL)
