"""The rehearsal endpoint, and jobs that ask it."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from assessor.llm import asking
from tests.llm.endpoint import Endpoint

StartEndpoint = Callable[..., Endpoint]


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[StartEndpoint]:
    """Start endpoints with these knobs; all of them are stopped afterwards."""
    started: list[Endpoint] = []
    numbers = count()

    def start(**knobs: Any) -> Endpoint:
        folder = tmp_path / f"endpoint-{next(numbers)}"
        folder.mkdir()
        started.append(Endpoint(folder, **knobs))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries follow each other quickly."""
    monkeypatch.setattr(asking, "BACKOFF", 0.02)
