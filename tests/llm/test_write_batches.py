"""Which work for the database is done together, and when."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from assessor.llm.write_batches import GATHER, Grouped

pytestmark = pytest.mark.django_db(transaction=True)


def groups(work: Callable[[Grouped], Awaitable[Any]], *, may_gather: bool) -> tuple[list[list[str]], float]:
    """Return the groups in which work was done, and the seconds until all was."""
    done: list[list[str]] = []

    def carry_out(group: Sequence[str]) -> Sequence[str]:
        done.append(list(group))
        return group

    async def run() -> None:
        database = Grouped(carry_out, lambda: may_gather)
        await work(database)
        await database.close()

    begun = time.monotonic()
    asyncio.run(run())
    return done, time.monotonic() - begun


async def one_after_the_other(database: Grouped) -> None:
    first = database.do("first")
    await asyncio.sleep(GATHER / 4)
    assert await asyncio.gather(first, database.do("second")) == ["first", "second"]


def test_work_that_may_wait_gathers_for_a_tenth_of_a_second():
    done, seconds = groups(one_after_the_other, may_gather=True)
    assert done == [["first", "second"]]
    assert seconds >= 0.1


def test_work_that_may_not_is_done_at_once():
    done, _ = groups(one_after_the_other, may_gather=False)
    assert done == [["first"], ["second"]]


def test_urgent_work_does_not_wait_for_what_gathers():
    async def work(database: Grouped) -> None:
        other = database.do("other")
        await asyncio.sleep(GATHER / 4)
        begun = time.monotonic()
        assert await database.do("urgent", urgent=True) == "urgent"
        assert time.monotonic() - begun < GATHER / 2
        assert not other.done()
        await other

    done, _ = groups(work, may_gather=True)
    assert done == [["urgent"], ["other"]]
