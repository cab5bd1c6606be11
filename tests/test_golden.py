"""The files of a whole study come out as they did before, byte by byte."""

import re
import subprocess
import sys
from pathlib import Path

from django.conf import settings


def test_a_whole_study_gives_the_same_files(tmp_path: Path):
    """What differs is named; `python -m tests.golden FOLDER --keep` keeps the new sums, where a change is meant."""
    command = [sys.executable, "-m", "tests.golden", str(tmp_path / "files")]
    log = tmp_path / "log"  # not a pipe, which a process that is left behind would keep open
    with log.open("w") as out:
        done = subprocess.run(command, cwd=settings.BASE_DIR, stdout=out, stderr=out, timeout=900, check=False)
    assert done.returncode == 0, log.read_text()[-3000:]
    tables = sorted((tmp_path / "files").glob("*.tex"))
    assert len(tables) > 50
    assert {table.name: wrong for table in tables if (wrong := rows_of_other_length(table.read_text()))} == {}


def rows_of_other_length(text: str) -> list[str]:
    """Return the rows of LaTeX tables that do not have as many cells as their table has columns."""
    wrong, columns = [], 0
    for line in text.splitlines():
        if line.startswith("\\begin{tabular}"):
            columns = len(re.sub(r"\{[^{}]*\}", "", line.removeprefix("\\begin{tabular}")[1:-1]))
        elif line.startswith("\\end{tabular}"):
            columns = 0
        elif columns and " & " in line and columns != len(re.findall(r"(?<!\\)&", line.split(" % ")[0])) + 1:
            wrong.append(line)
    return wrong
