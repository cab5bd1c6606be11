"""Finished nuggets and answers, as the tests of assignment have them, and a worker that gives what is planned."""

from collections.abc import Callable

import pytest

from assessor.plan import tasks
from tests.assignment.conftest import answered, finished, manual, nugget_ids, task

__all__ = ["answered", "finished", "manual", "nugget_ids", "task"]


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let a worker do what it was handed, to its end; return how many hints that were."""
    handed: list[tuple[int, int | None]] = []
    monkeypatch.setattr(tasks.give_planned, "delay", lambda *keys: handed.append(keys))

    def do() -> int:
        hints = handed[:]
        handed.clear()
        for keys in hints:
            tasks.give_planned.run(*keys)
        return len(hints)

    return do
