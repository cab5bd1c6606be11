"""The files of a whole study come out as they did before, byte by byte."""

import subprocess
import sys
from pathlib import Path

from django.conf import settings


def test_a_whole_study_gives_the_same_files(tmp_path: Path):
    """What differs is named; `python -m tests.golden FOLDER --keep` keeps the new sums, where a change is meant."""
    command = [sys.executable, "-m", "tests.golden", str(tmp_path / "files")]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
