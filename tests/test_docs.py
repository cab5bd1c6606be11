"""What the documentation names is there: files, tests, links and headings."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = [ROOT / "README.md", ROOT / "demo/README.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = "tests|assessor|nuggets|assignment|support|metaeval|bench|demo|deploy|static|templates"
NAMED = re.compile(rf"`((?:{FOLDERS})/[\w./*-]+)(?:::(\w+))?")
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")


def anchors(text: str) -> set[str]:
    """Return what headings are called in addresses."""
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def missing(doc: Path) -> list[str]:
    """Return what a page names and is not there."""
    text = doc.read_text()
    found = []
    for path, name in NAMED.findall(text):
        files = list(ROOT.glob(path)) if "*" in path else [ROOT / path]
        if not any(file.exists() and (not name or f"def {name}(" in file.read_text()) for file in files):
            found.append(f"{path}::{name}" if name else path)
    for path, anchor in LINK.findall(text):
        file = doc.parent / path if path else doc
        if not file.exists() or (anchor and anchor not in anchors(file.read_text())):
            found.append(f"{path}#{anchor}" if anchor else path)
    return found


@pytest.mark.parametrize("doc", DOCS, ids=lambda doc: doc.name)
def test_what_a_page_names_is_there(doc: Path):
    assert missing(doc) == []


def test_what_is_not_there_is_found(tmp_path: Path):
    doc = tmp_path / "page.md"
    doc.write_text(
        "# A head, of two\n[a](page.md#a-head-of-two) [b](page.md#none) [c](gone.md) [d](https://example.org/) "
        "`tests/test_docs.py::test_what_is_not_there_is_found` `tests/test_docs.py::nobody` `tests/nowhere.py`\n"
    )
    assert missing(doc) == ["tests/test_docs.py::nobody", "tests/nowhere.py", "page.md#none", "gone.md"]
