"""The findings of an import: counts, errors and warnings, each with file, line, field, found, expected and remedy."""

import json
import re
from collections import Counter
from typing import Any, NamedTuple

LISTED = 50  # bad lines whose errors are spelled out, and warnings of a kind; the rest are counted
OF_A_LINE = 20  # errors spelled out of one line
LISTED_OF_A_KIND = 3  # warnings of a kind on pages and by commands; the stored report has up to LISTED
MOST_WARNINGS = 10_000  # in a report's file, besides those of the stored report
SHOWN = 120  # characters of what was found or expected
_PLURAL = re.compile(r"\b(\w+)s\b")
TAKE_AS_MISSING = (
    "Import it with --invalid-labels missing, or with “Grades, importances and labels that are none” on the page."
)


class Problem(NamedTuple):
    """One thing wrong in one line (line 0: the file as a whole).

    remedy: whole sentences that say which option or setting takes the file as it is; "" where none does.
    """

    line: int
    field: str
    found: str
    expected: str
    remedy: str = ""

    def told(self, file: str = "") -> str:
        """Return it as a line for people."""
        place = ", ".join(part for part in (file, self.line and f"line {self.line}") if part)
        head = "".join(f"{part}: " for part in (place, self.field) if part)
        remedy = f". {self.remedy}" if self.remedy else ""
        return f"{head}found {self.found}; expected {self.expected}{remedy}"


class Unreadable(Exception):
    """Reading can't go on behind this line; the reason is in the report."""


class WarningKind(NamedTuple):
    """A kind of warning: how many there are and the first of them."""

    total: int
    listed: list[Problem]


class Report:
    """The findings of one pass over one file."""

    def __init__(self, file_name: str) -> None:
        self.file_name = file_name
        self.counts: Counter[str] = Counter()
        self._errors: dict[int, list[Problem]] = {}  # by line
        self.error_count = 0
        self.warnings: dict[str, WarningKind] = {}
        self._further: dict[str, list[Problem]] = {}  # warnings behind the first LISTED of their kind
        self._room = MOST_WARNINGS

    def error(self, line: int, field: str, found: object, expected: str, *, remedy: str = "") -> None:
        """Note an error: the import will be refused. Those of the first bad lines are spelled out, line by line."""
        self.error_count += 1
        of_line = self._errors.setdefault(line, [])
        if len(of_line) < OF_A_LINE:
            of_line.append(Problem(line, show(field), show(found), show(expected), visible(remedy)))
        if len(self._errors) > LISTED:
            del self._errors[max(self._errors)]

    @property
    def errors(self) -> list[Problem]:
        """The errors that are spelled out, in the order of their lines."""
        return [problem for _, of_line in sorted(self._errors.items()) for problem in of_line]

    def fatal(self, line: int, field: str, found: object, expected: str, *, remedy: str = "") -> Unreadable:
        """Note an error behind which nothing can be read, and return the exception to raise."""
        self.error(line, field, found, expected, remedy=remedy)
        return Unreadable(expected)

    def warn(self, kind: str, line: int, field: str, found: object, expected: str) -> None:
        """Note a warning; warnings are counted by kind, and the first of each kind are listed."""
        total, listed = self.warnings.get(kind, WarningKind(0, []))
        if len(listed) < LISTED:
            listed.append(Problem(line, show(field), show(found), show(expected)))
        elif self._room:
            self._room -= 1
            self._further.setdefault(kind, []).append(Problem(line, show(field), show(found), show(expected)))
        self.warnings[kind] = WarningKind(total + 1, listed)

    @property
    def warning_count(self) -> int:
        return sum(kind.total for kind in self.warnings.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the report as it is stored and shown."""
        return {
            "file": self.file_name,
            "counts": dict(self.counts),
            "error_count": self.error_count,
            "errors": [problem._asdict() for problem in self.errors],
            "warning_count": self.warning_count,
            "warnings": [
                {"kind": kind, "count": total, "listed": [problem._asdict() for problem in listed]}
                for kind, (total, listed) in sorted(self.warnings.items())
            ],
        }

    @property
    def further_warnings(self) -> dict[str, Any]:
        """The warnings by kind that the stored report only counts: a column of their own, which pages don't read."""
        return {kind: [problem._asdict() for problem in listed] for kind, listed in self._further.items()}


def quantity(number: int, nouns: str) -> str:
    """Return a number of things that are named in the plural; of one thing, in the singular."""
    named = _PLURAL.sub(r"\1", nouns, count=1) if number == 1 else nouns
    return f"{number:,} {named}"


def error_heading(total: int, listed: int) -> str:
    """Return the line above the errors that are spelled out."""
    first = f", the first {listed}" if listed < total else ""
    return f"{quantity(total, 'errors')}{first}:"


def write_report(report: dict[str, Any], further: dict[str, Any]) -> str:
    """Return a stored report as a file, with its further warnings behind those that it lists."""
    warnings = [kind | {"listed": kind["listed"] + further.get(kind["kind"], [])} for kind in report["warnings"]]
    return json.dumps(report | {"warnings": warnings}, ensure_ascii=False, indent=2) + "\n"


def show(found: object) -> str:
    """Return a value as one short line in which nothing invisible hides."""
    text = found if isinstance(found, str) else repr(found)
    text = visible(text[: SHOWN + 1])
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def visible(text: str) -> str:
    """Return a text in which nothing invisible hides, such as what tells a terminal to do something."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
