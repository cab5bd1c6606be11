"""What was tried is told at the end of the long run, from all its processes."""

import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.examples import IS_LONG
from tests.fuzz.profile import COUNTS, SEED


@pytest.fixture(autouse=True)
def _quietly() -> Iterator[None]:
    """Nobody reads ten thousand refusals."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand over what this process counted, where there are several."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["fuzz"] = [(*key, dict(counted)) for key, counted in COUNTS.items()]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Add up what a process counted."""
    for table, subject, counted in getattr(node, "workeroutput", {}).get("fuzz", []):
        COUNTS.setdefault((table, subject), Counter()).update(counted)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how many cases came to what."""
    if not IS_LONG or not COUNTS:
        return
    write = terminalreporter.write_line
    terminalreporter.section(f"fuzzing, by the seed {SEED}")
    for table in sorted({table for table, _ in COUNTS}):
        rows = {subject: counted for (of, subject), counted in COUNTS.items() if of == table}
        every = sum(rows.values(), Counter())
        width = max(len(subject) for subject in rows)
        write(f"\n{table}: {every.total():,} cases")
        for subject in sorted(rows):
            came = ", ".join(f"{what} {count:,}" for what, count in sorted(rows[subject].items()))
            write(f"  {subject:<{width}}  {rows[subject].total():>6,}  {came}")
        write(f"  {'all':<{width}}  {every.total():>6,}  " + ", ".join(f"{a} {n:,}" for a, n in sorted(every.items())))
