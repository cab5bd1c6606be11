"""What scripts say stands in the pages that load them, and pages have no sentence that nobody says."""

import re
from pathlib import Path

import pytest

from assessor.preference.views import SCRIPTS as PREFERENCE
from assessor.relevance.views import SCRIPTS as RELEVANCE
from assignment.views.labelling import SCRIPTS as ASSIGNMENT
from nuggets.views.editor import EDITOR_SCRIPTS
from support.views.judging import SCRIPTS as SUPPORT

ROOT = Path(__file__).resolve().parents[2]
SHARED, WORKBENCH = "work/_words.html", "labels/workbench.html"
# By screen: its scripts, besides those of every page, and the templates that have its sentences.
SCREENS = {
    "nuggets": (EDITOR_SCRIPTS, (SHARED, "nuggets/editor.html", "nuggets/questions/_words.html")),
    "assignment": (ASSIGNMENT, (SHARED, WORKBENCH, "assignment/labelling.html")),
    "support": (SUPPORT, (SHARED, WORKBENCH, "support/judging.html")),
    "preference": (PREFERENCE, (SHARED, WORKBENCH, "preference/comparing.html")),
    "relevance": (RELEVANCE, (SHARED, WORKBENCH, "relevance/grading.html")),
}
EVERYWHERE = ("assay/storage.js", "assay/keys.js")
# What a screen never comes to say: it does otherwise, or has no such part.
UNREACHED = {
    "nuggets": set(),
    "assignment": {"found", "found-at", "not-found", "read-count"},
    "support": set(),
    "preference": set(),
    "relevance": {"on-to-item"},
}


def said(scripts: tuple[str, ...]) -> set[str]:
    """Return the names in all calls of assay.say() and assay.count(), however they are chosen there."""
    found: set[str] = set()
    for script in (*EVERYWHERE, *scripts):
        text = (ROOT / "static" / script).read_text()
        for call in re.findall(r"assay\.say\(((?:[^(){}]|\{[^{}]*\}|\([^()]*\))*)\)", text):
            named = re.sub(r",\s*\{.*", "", call, flags=re.DOTALL)
            found |= set(re.findall(r'"([a-z][a-z-]*)"', named)) - {"string"}  # a type
    return found


@pytest.mark.parametrize("screen", SCREENS)
def test_every_sentence_of_a_script_stands_in_its_page(screen: str):
    scripts, templates = SCREENS[screen]
    text = "".join((ROOT / "templates" / template).read_text() for template in templates)
    there = re.findall(r'data-say="([\w-]+)"', text)
    assert len(there) == len(set(there)), "each once"
    assert said(scripts) - set(there) == UNREACHED[screen]


def test_no_page_has_a_sentence_that_no_script_names():
    scripts = "".join(path.read_text() for path in (ROOT / "static/assay").glob("*.js"))
    for path in (ROOT / "templates").rglob("*.html"):
        for name in re.findall(r'data-say="([\w-]+)"', path.read_text()):
            first = name.partition("-")[0]  # some are put together: `change-${action}`
            is_named = re.search(rf'["`\s{{,.?:]{name.removesuffix("s")}s?["`\s:,;}}]', scripts)
            assert is_named or f"`{first}-${{" in scripts, f"{path.name}: {name}"
