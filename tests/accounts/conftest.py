"""A clock that stands still, and transactions whose callbacks run at once, as where nothing is around them."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction

from assessor.accounts.models import Person
from assessor.accounts.tasks import mail_links, mail_notice
from tests.accounts.steps import has_app


@pytest.fixture
def clock(time_machine: Any) -> Any:
    time_machine.move_to("2026-11-21T10:00:00Z", tick=False)
    return time_machine


@pytest.fixture
def at_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is to run after a commit runs at once: the test's own transaction is never committed."""
    monkeypatch.setattr(transaction, "on_commit", lambda function, **_: function())


@pytest.fixture
def mails(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mail is set up, and workers mail at once."""
    settings.MAILS = True
    for task in (mail_links, mail_notice):
        monkeypatch.setattr(task, "delay", task)


@pytest.fixture
def recovery(anna: Person, clock: Any, at_commit: None) -> list[str]:
    """Anna's recovery codes: her app is set up."""
    return has_app(anna)


@pytest.fixture(autouse=True)
def _nothing_counted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Limits count from nothing, and leave nothing: they are in a table that no test's end empties."""
    if not (request.node.get_closest_marker("django_db") or "db" in request.fixturenames):
        yield
        return
    request.getfixturevalue("_django_db_helper")
    cache.clear()
    yield
    cache.clear()
