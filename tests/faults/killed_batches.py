"""A hundred thousand requests in three full batches, whose process is killed ten times.

    python -m pytest tests/faults/killed_batches.py

It takes minutes, so it is no part of the tests that are collected.
"""

from math import ceil
from pathlib import Path

import pytest

from assessor.llm import batches
from tests.llm.killed_batches import killed

UNITS, FILES, KILLS = 100_000, 3, 10
MOST_SECONDS, MOST_MEMORY = 0.005, 400  # of our own time for a request, in MiB


@pytest.mark.django_db
def test_each_request_is_sent_and_answered_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    found = killed(tmp_path, UNITS, FILES, KILLS, seed=32, longest=15)
    with capsys.disabled():
        print(f"\n{found}, {1000 * found.cpu / UNITS:.2f} ms of CPU for a request")
    assert found.kills == KILLS
    # A batch whose process is killed while it makes it is sent with what it has; the next ones are full.
    full = max(found.sizes)
    short = [size for size in found.sizes[:-1] if size < full]
    assert UNITS / FILES <= full < 1.02 * UNITS / FILES  # parts of tokens are rounded up
    assert not any(size % batches._AT_ONCE for size in short)
    assert len(found.sizes) - len(short) == ceil((UNITS - sum(short)) / full) <= FILES
    assert found.cpu / UNITS <= MOST_SECONDS
    assert found.peak <= MOST_MEMORY
