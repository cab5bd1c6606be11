"""What the documentation names is there: files, tests, links, headings, images and commands."""

import re
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).parent.parent
DOCS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "demo/README.md",
    *sorted((ROOT / "docs").glob("**/*.md")),
]
FOLDERS = "tests|assay|assessor|nuggets|assignment|support|metaeval|bench|demo|deploy|static|templates"
NAMED = re.compile(rf"`((?:{FOLDERS})/[\w./*-]+)(?:::(\w+))?")
# Tests are named without their files, which may move.
TEST = re.compile(r"`(test_\w+)`")
SETTING = re.compile(r"\"(ASSAY_[A-Z_]+)\"")
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")


@cache
def names_of_tests() -> set[str]:
    """Return the names of all tests."""
    files = (ROOT / "tests").glob("**/test_*.py")
    return {name for file in files for name in re.findall(r"def (test_\w+)\(", file.read_text())}


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
    found.extend(name for name in TEST.findall(text) if name not in names_of_tests())
    for path, anchor in LINK.findall(text):
        file = doc.parent / path if path else doc
        if not file.exists() or (anchor and anchor not in anchors(file.read_text())):
            found.append(f"{path}#{anchor}" if anchor else path)
    return found


@pytest.mark.parametrize("doc", DOCS, ids=lambda doc: str(doc.relative_to(ROOT)))
def test_what_a_page_names_is_there(doc: Path):
    assert missing(doc) == []


def test_what_is_not_there_is_found(tmp_path: Path):
    doc = tmp_path / "page.md"
    doc.write_text(
        "# A head, of two\n[a](page.md#a-head-of-two) [b](page.md#none) [c](gone.md) [d](https://example.org/) "
        "`tests/test_docs.py::test_what_is_not_there_is_found` `tests/test_docs.py::nobody` `tests/nowhere.py` "
        "`test_what_is_not_there_is_found` `test_nobody`\n"
    )
    assert missing(doc) == ["tests/test_docs.py::nobody", "tests/nowhere.py", "test_nobody", "page.md#none", "gone.md"]


def test_every_page_and_picture_is_linked():
    linked = {(doc.parent / path).resolve() for doc in DOCS for path, _ in LINK.findall(doc.read_text()) if path}
    there = {path for pattern in ("**/*.md", "**/*.png") for path in (ROOT / "docs").glob(pattern)}
    assert there - linked == set()


def test_every_command_is_documented():
    ours = ("assessor", "assignment", "metaeval", "nuggets", "support")
    words = {word for doc in DOCS for word in re.findall(r"\w+", doc.read_text())}
    assert {name for name, app in get_commands().items() if app.split(".")[0] in ours} - words == set()


def test_every_setting_is_documented():
    used = {name for file in (ROOT / "assessor").glob("*.py") for name in SETTING.findall(file.read_text())}
    page = (ROOT / "docs/administrator/settings.md").read_text()
    assert {name for name in used if f"`{name}`" not in page} == set()
