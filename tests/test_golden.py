"""The files of a whole study come out as they did before, byte by byte."""

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
