"""Many small database writes of coroutines, done together by one thread: a commit for each would be the limit.

While the thread is at one group, the next one gathers.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from django.db import OperationalError, connection

Work = Any
Result = Any
_TRIES = 5
_PAUSE = 0.2  # seconds before a group is tried again, growing
GATHER = 0.1  # seconds that a group gathers at most


class Grouped:
    """Carries out work a group at a time. carry_out runs in the thread, all or nothing.

    It gets the group and returns a result for each, in order; a result that is an exception is raised where the work
    came from. If it raises itself, each of the group is carried out alone, so that one can't spoil the others'.

    may_gather says whether work that is not urgent may wait for further work: a group takes the database nearly as long
    with one as with several.
    """

    def __init__(self, carry_out: Callable[[Sequence[Work]], Sequence[Result]], may_gather: Callable[[], bool]) -> None:
        self._carry_out = carry_out
        self._may_gather = may_gather
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")
        self._urgent: list[tuple[Work, asyncio.Future[Result]]] = []
        self._waiting: list[tuple[Work, asyncio.Future[Result]]] = []
        self._gathered_at = 0.0  # of the loop's clock: when what waits has gathered for long enough
        self._called = asyncio.Event()
        self._at_work: asyncio.Task[None] | None = None

    def do(self, work: Work, *, urgent: bool = False) -> "asyncio.Future[Result]":
        """Have work done with the next group; await what is returned for its result, which is there once committed.

        Urgent work has groups of its own, which take turns with the others and are shorter.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        if not urgent and not self._waiting:
            self._gathered_at = loop.time() + GATHER
        (self._urgent if urgent else self._waiting).append((work, future))
        if urgent or not self._may_gather():
            self._called.set()
        if self._at_work is None:
            self._at_work = loop.create_task(self._run())
        return future

    async def alone(self, function: Callable[..., Result], *args: Any) -> Result:
        """Call a function in the thread, which has the only connection to the database."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: _again_if_broken(function, *args))

    async def close(self) -> None:
        """Wait until all is done and end the thread with its connection."""
        while self._at_work is not None:
            await self._at_work
        await asyncio.get_running_loop().run_in_executor(self._thread, lambda: connection.close())
        self._thread.shutdown()

    async def _run(self) -> None:
        while self._urgent or self._waiting:
            if not self._urgent:
                await self._gather()
            group, self._urgent = self._urgent, []
            await self._do_group(group)
            if not self._may_gather() or asyncio.get_running_loop().time() >= self._gathered_at:
                group, self._waiting = self._waiting, []
                await self._do_group(group)
        self._at_work = None

    async def _gather(self) -> None:
        """Let further work come, until some is urgent, or what waits has waited for long enough."""
        self._called.clear()
        if self._may_gather():
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._gathered_at):
                    await self._called.wait()

    async def _do_group(self, group: list[tuple[Work, asyncio.Future[Result]]]) -> None:
        if not group:
            return
        try:
            results = await self.alone(self._together, [work for work, _ in group])
        except Exception as error:
            results = [error] * len(group)
        for (_, future), result in zip(group, results, strict=True):
            if future.cancelled():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)

    def _together(self, group: Sequence[Work]) -> Sequence[Result]:
        try:
            return self._carry_out(group)
        except OperationalError:
            raise
        except Exception as error:
            return [error] if len(group) == 1 else [self._single(work) for work in group]

    def _single(self, work: Work) -> Result:
        try:
            return self._carry_out([work])[0]
        except OperationalError:
            raise
        except Exception as error:
            return error


def _again_if_broken(function: Callable[..., Result], *args: Any) -> Result:
    """Call a function again where the database was locked for long, or the connection broke: nothing was written."""
    for attempt in range(1, _TRIES + 1):
        try:
            return function(*args)
        except OperationalError:
            connection.close()
            if attempt == _TRIES:
                raise
            time.sleep(_PAUSE * attempt)
    raise AssertionError("unreachable")
