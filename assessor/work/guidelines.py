"""Guidelines for each kind of work, in Markdown."""

from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

_FOLDER = Path(__file__).parent / "guidelines"
KINDS = ("nuggets", "assignment", "support", "relevance")


@cache
def guidelines_html(kind: str) -> str:
    """Return the guidelines for a kind of work as HTML; raw HTML in the Markdown is shown as text.

    The page that shows them has its own h1, so every heading goes one level down.
    """
    if kind not in KINDS:
        raise KeyError(kind)
    renderer = MarkdownIt("js-default", {"html": False, "linkify": False})
    tokens = renderer.parse((_FOLDER / f"{kind}.md").read_text(encoding="utf-8"))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
    return str(renderer.renderer.render(tokens, renderer.options, {}))
