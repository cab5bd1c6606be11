"""Guidelines for each kind of work, in Markdown: the text that campaigns start with, how it is shown, what changed."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import NamedTuple

from assessor.campaigns.condition_kind import kind_named

_AROUND = 2  # lines that stand unchanged on each side of what changed


@cache
def first_text(kind: str) -> str:
    """Return the guidelines that campaigns start with for a kind of work. Raises KeyError for no such kind."""
    return kind_named(kind).guidelines()


@lru_cache(256)
def as_html(text: str) -> str:
    """Return guidelines as HTML; raw HTML in the Markdown is shown as text, and so are images.

    The page that shows them has its own h1, so every heading goes one level down.
    """
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("js-default", {"html": False, "linkify": False}).disable("image")
    tokens = renderer.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
    return str(renderer.renderer.render(tokens, renderer.options, {}))


class Line(NamedTuple):
    """A line of what changed: "same", "added", "removed", or "left out" for lines that are the same and not shown."""

    how: str
    text: str


def differences(before: str, after: str) -> list[Line]:
    """Return what changed from one text to another, line by line, with a few lines around it; nothing if they equal."""
    old, new = before.splitlines(), after.splitlines()
    if old == new:
        return []
    return list(_lines(old, new))


def _lines(old: list[str], new: list[str]) -> Iterator[Line]:
    end = 0
    for group in SequenceMatcher(a=old, b=new, autojunk=False).get_grouped_opcodes(_AROUND):
        if group[0][1] > end:
            yield Line("left out", "")
        for tag, from_old, to_old, from_new, to_new in group:
            if tag == "equal":
                yield from (Line("same", line) for line in old[from_old:to_old])
            else:
                yield from (Line("removed", line) for line in old[from_old:to_old])
                yield from (Line("added", line) for line in new[from_new:to_new])
        end = group[-1][2]
    if end < len(old):
        yield Line("left out", "")
