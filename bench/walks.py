"""How many files one thing takes: of a label what runs, of what could be added what names one that is there.

    python -m bench.walks [--list]

A label is given in this process, on a demo: its files are those of the product in which a function ran (middleware and
what it calls excluded), the templates that were rendered and the scripts that the page loads. A new measure, job or
kind of label touches about the files that name one that is there, a new form of export those that name one (the plan's
table); what is its own, tests and migrations are not counted. docs/evidence/benchmarks.md has the figures.
"""

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

from bench import house

ROOT = Path(__file__).resolve().parent.parent
APPS = ("assessor", "nuggets", "assignment", "support", "metaeval")
MIDDLEWARE = ("middleware.py", "middleware/csrf.py", "assessor/runtime/logs.py", "assessor/runtime/health.py")
# By walk: what names one that is there, and the folders that are its own.
ADDED = {
    "a new measure of nuggets": (r"\bwstrict\b", ()),  # which no figure or formula of a comparison takes
    "a new job for a model": (r"(?i)umbrela", ("assessor/relevance/", "templates/relevance/")),
    "a new form of export": (r"\bplan_lines\b", ("assessor/plan/exports.py",)),
    "a new kind of label": (
        r"(?i)kind\.support\b|\bsupport\.\w+ import|[\"']support[\"']",
        ("support/", "templates/support/"),
    ),
}


class Files:
    """The files that took part in something."""

    def __init__(self) -> None:
        self.python: set[str] = set()
        self.templates: set[str] = set()
        self.scripts: set[str] = set()

    def describe(self) -> str:
        rest = f", {len(self.templates)} templates, {len(self.scripts)} scripts" if self.templates else ""
        return f"{len(self.python)} Python files{rest}"


def is_middleware(frame: FrameType | None) -> bool:
    """Say whether a function was called by middleware, not by the view behind it or by a command."""
    while frame is not None:
        if frame.f_code.co_name == "_get_response":  # of Django's handler, which calls the view
            return False
        if frame.f_code.co_filename.endswith(MIDDLEWARE):
            return True
        frame = frame.f_back
    return False


@contextmanager
def watch(files: Files) -> Iterator[None]:
    """Note in which files of the product functions run, and which templates are rendered."""
    from django.test.signals import template_rendered

    def note(frame: FrameType, event: str, arg: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(ROOT)):
            path = Path(name).relative_to(ROOT)
            if path.parts[0] in APPS and not is_middleware(frame):
                files.python.add(str(path))

    def rendered(template: Any, **_: Any) -> None:
        if template.name:
            files.templates.add(template.name)

    template_rendered.connect(rendered)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        template_rendered.disconnect(rendered)


def give_label(folder: Path) -> tuple[Files, Files]:
    """Give a label and export the condition; return what all of it took, and the one request alone."""
    os.environ["ASSAY_DEMO"] = "1"
    house.open_house(folder)
    from django.conf import settings
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    setup_test_environment(debug=False)
    settings.STORAGES |= {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    call_command("load_demo", stdout=StringIO())

    from tests.golden.player import Choice, Player
    from tests.golden.screens import Assignment

    class Still:
        def step(self) -> None:
            """No time passes."""

    olga, anna = (Player(Still(), name, "demo-password") for name in ("olga", "anna"))  # type: ignore[arg-type]
    base, name = "/campaigns/demo/", "By hand"
    olga.submit(f"{base}conditions/new/", method="ManualAssign", name=name, nuggets=Choice("Reference"))
    [topic] = re.findall(r'value="(\d+)" aria-label="Choose demo-6"', olga.page(f"{base}plan/"))
    give = f"{base}plan/give/?topics={topic}"
    [person] = re.findall(r'<option value="(\d+)"[^>]*>anna\b', olga.page(give))
    olga.submit(give, among="Give", condition=Choice(name), person=person)
    address = re.findall(r'href="(/assign/\d+/)"', anna.page("/"))[0]
    anna.submit(f"/work/{address.split('/')[2]}/guidelines/", among="Go on to the work")
    whole, request = Files(), Files()
    for of_all, of_one in ((Files(), Files()), (whole, request)):  # once before it counts: modules are read once
        with watch(of_all):
            screen = Assignment(anna, address)
        answer, nugget = screen.answers[0], min(screen.nuggets)
        with watch(of_one):
            screen.do(answer, "label", nugget=nugget, label="support", seconds=3)
        with watch(of_all):
            call_command("export_assignments", "demo", condition=name, stdout=StringIO())
        of_all.python |= of_one.python
        of_all.scripts = set(re.findall(r'<script src="([^"]*assay/[^"]*)"', screen.page))
    return whole, request


def files_with(pattern: str, own: tuple[str, ...]) -> list[str]:
    """Return the files of the product that name something, without its own, tests and migrations."""
    found = []
    for top in (*APPS, "templates"):
        for path in sorted((ROOT / top).rglob("*")):
            name = str(path.relative_to(ROOT))
            if path.suffix not in (".py", ".html") or "migrations" in path.parts or name.startswith(own or ("\0",)):
                continue
            if re.search(pattern, path.read_text()):
                found.append(name)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="Name the files.")
    is_listed = parser.parse_args().list
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        whole, request = give_label(Path(folder))
    for name, files in (("a label, from the key to the file", whole), ("of this, the request", request)):
        print(f"{name}: {files.describe()}")
        if is_listed:
            print(*sorted(files.python | files.templates | files.scripts), sep="\n")
    for name, (pattern, own) in ADDED.items():
        names = files_with(pattern, own)
        print(f"{name}: {len(names)} files")
        if is_listed:
            print(*names, sep="\n")


if __name__ == "__main__":
    main()
