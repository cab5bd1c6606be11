"""Rehearsal endpoints for tests."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assessor.llm import prompt_requests
from tests.llm.endpoint import RunningEndpoint

StartEndpoint = Callable[..., RunningEndpoint]


@pytest.fixture
def endpoint() -> Iterator[StartEndpoint]:
    """Start endpoints by their knobs: endpoint(latency=0.1, failure_rate=0.2). All end with the test."""
    running: list[RunningEndpoint] = []

    def start(**knobs: Any) -> RunningEndpoint:
        running.append(RunningEndpoint(**knobs))
        return running[-1]

    yield start
    for each in running:
        each.stop()


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries follow each other quickly."""
    monkeypatch.setattr(prompt_requests, "BACKOFF", 0.02)
