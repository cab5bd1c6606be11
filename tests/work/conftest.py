"""What the tests of tasks, time and blindness share."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connections

from assessor.campaigns.models import Condition
from assessor.work.models import Task
from nuggets.models import NuggetBank
from tests.nuggets.model import draft, make_condition, make_model


@pytest.fixture
def task(bank: NuggetBank) -> Task:
    """Anna's task on t1, just given."""
    return Task.objects.get(nugget_bank=bank)


@pytest.fixture
def unblind(condition: Condition) -> Condition:
    """Another condition for nuggets, which is not done blind: AutoNuggets+Edits, with drafts on every topic."""
    unblind = make_condition(make_model(condition.campaign), name="AutoNuggets+Edits")
    draft(unblind, condition.campaign.topics.all(), ["a", "b"])
    return unblind


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Start all calls at the same moment, each in its thread, and return what each returned or raised."""
    barrier = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def run(number: int) -> None:
        barrier.wait(30)
        try:
            results[number] = calls[number]()
        except Exception as error:
            results[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[number]) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results
