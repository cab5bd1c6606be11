"""Putting a request to a judge, until there is an answer that can be used, or until there is none to be had."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Iterable
from typing import Any, NamedTuple, NoReturn, TypeVar

from assessor.llm import gateway, limits
from assessor.llm.gateway import Failed, Gateway, Reply
from assessor.llm.job_kind import UnitFailure
from assessor.llm.ledger import Asked, Entry, Permit
from assessor.llm.models import Job, Unit
from assessor.llm.prompts import Message, PromptRequest, PromptSet, Value
from assessor.llm.replies import WrongAnswer
from assessor.llm.write_batches import GATHER, Grouped
from assessor.runtime.logs import about

RE_ASKED = 3  # times, with the reason, after a wrong answer
TRIES = 6  # of one request that gets no response
TRIES_WHEN_TOLD_TO_WAIT = 20  # where the endpoint says 429
MOST_FAILURES = 20  # units in a row, before the job is halted: what is wrong is not theirs
BACKOFF = 1.0  # seconds before the second try, doubled each time, less a random part
_LONGEST_BACKOFF = 60.0
_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")


class Stopped(Exception):
    """The job was paused, cancelled or halted: the unit goes back to those that wait."""


class Deferred(Stopped):
    """The request goes in a batch, and its unit waits for the answer."""


class Halt(Exception):
    """The job can't go on; the text says why, once for all units."""


class PermitRelease(NamedTuple):
    """Work for the database: a request that was let go did not leave after all."""

    leave: Permit


class CacheLookup(NamedTuple):
    """Work for the database: is this request answered already?"""

    asked: Asked


class BatchLookup(NamedTuple):
    """Work for the database: what did a batch bring for this request? If nothing yet, let it go in one.

    body: None where it goes in none any more; tries: batches that brought no answer.
    """

    unit: Unit
    question: str
    request: str
    body: dict[str, Any] | None
    expected: Permit
    tries: int = 0


class Batched(NamedTuple):
    """What a batch brought for a request: see gateway.read_batched(). batch: its key."""

    batch: int | None
    status: int
    response: str
    tries: int


class ConcurrencySlots:
    """How many requests this process may have in flight. Unlike a semaphore its number can change."""

    def __init__(self) -> None:
        self.number = 0
        self.taken = 0
        self.is_closed = False
        self._waiting: list[asyncio.Future[None]] = []

    def change(self, number: int) -> None:
        """Allow another number; who has a seat keeps it."""
        self.number = number
        self._call_in()

    @property
    def wanted(self) -> int:
        """How many requests wait for a seat."""
        return len(self._waiting)

    def close(self) -> None:
        """Let nobody in any more."""
        self.is_closed = True
        self._call_in()

    async def __aenter__(self) -> None:
        while self.taken >= self.number or self.is_closed:
            if self.is_closed:
                raise Stopped
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self.taken += 1

    async def __aexit__(self, *error: object) -> None:
        self.taken -= 1
        self._call_in()

    def _call_in(self) -> None:
        free = len(self._waiting) if self.is_closed else max(0, self.number - self.taken)
        called, self._waiting = self._waiting[:free], self._waiting[free:]
        for turn in called:
            if not turn.done():
                turn.set_result(None)


class Line:
    """What all units of a job in this process share on their way to the judge."""

    def __init__(self, job: Job, gateway: Gateway, database: Grouped, *, uses_batches: bool) -> None:
        self.job = job
        self.judge = job.judge
        self.parameters: dict[str, Any] = dict(job.judge.judge.parameters)
        self.gateway = gateway
        self.database = database
        self.seats = ConcurrencySlots()
        self.stopped = asyncio.Event()
        self.open_at = 0.0  # of the loop's clock: nothing leaves before, because the endpoint asked for it
        self.queue = 0.0  # seconds for which the judge's rate lets none of the requests go that ask for it now
        self.on_the_way: dict[Asked, asyncio.Future[None]] = {}
        self.failures_in_a_row = 0
        self.uses_batches = uses_batches  # or did, before its organizer had the rest asked one by one
        self.model = ""  # that answered last, by its name at the endpoint
        # What is not asked for need not be looked up before each request.
        wanted = (self.judge.requests_per_minute, self.judge.tokens_per_minute, job.most_calls, job.most_cost)
        self.needs_leave = any(limit is not None for limit in wanted)

    @property
    def is_held_up(self) -> bool:
        """Whether the judge's rate is the limit, and not how soon a seat is free: then the database need not hurry."""
        return self.queue > 2 * GATHER

    def stop(self) -> None:
        """Send nothing more; what is in flight may come back."""
        self.stopped.set()
        self.seats.close()

    async def hold_off(self, seconds: float) -> None:
        """Let nobody ask this judge for a while, here at once and in other workers with their next sign of life."""
        self.open_at = max(self.open_at, asyncio.get_running_loop().time() + seconds)
        await self.database.alone(limits.hold_off, self.judge.pk, seconds)

    def count_failure(self, why: str) -> None:
        """Count a unit that can't be done. Raises Halt after many without an answer in between."""
        self.failures_in_a_row += 1
        if self.failures_in_a_row >= MOST_FAILURES:
            raise Halt(f"{self.failures_in_a_row} units in a row failed, the last one: {why}")

    def check_model(self, name: str) -> None:
        """Raise Halt where the endpoint calls its model by another name than before, unless the judge accepts it."""
        if not name or self.judge.accepts_other_models:
            return
        before, self.model = self.model, self.model or name
        if before not in ("", name):
            raise Halt(
                f"The endpoint now answers with {name}; before, it was {before}. Resume to go on with {name}, or name"
                " the exact version in a new judge."
            )

    async def wait(self, seconds: float) -> None:
        """Wait, unless the job is stopped. Raises Stopped."""
        if seconds <= 0 and not self.stopped.is_set():
            return
        try:
            await asyncio.wait_for(self.stopped.wait(), seconds)
        except TimeoutError:
            return
        raise Stopped


class Asking:
    """Sends the requests of one unit. See job_kind.Ask."""

    def __init__(self, line: Line, unit: Unit, prompts: PromptSet) -> None:
        self.prompts = prompts
        self._line = line
        self._unit = unit

    async def __call__(self, request: PromptRequest[Value]) -> Value:
        """Return the answer. A wrong one is asked again with the reason, RE_ASKED times, then the unit fails."""
        messages = list(request.messages)
        for _ in range(1 + RE_ASKED):
            reply = await self._reply(request, messages)
            try:
                answer = _read(request, reply)
            except WrongAnswer as error:
                reason = str(error)
                if reply.text is not None:
                    messages = [*messages, {"role": "assistant", "content": gateway.storable(reply.text)}]
                again = f"That can't be used: {reason} Reply again, in the form asked for."
                messages = [*messages, {"role": "user", "content": again}]
            else:
                self._line.failures_in_a_row = 0
                return answer
        self._line.count_failure(reason)
        raise UnitFailure(f"Wrong answer {1 + RE_ASKED} times to the question of {request.name}: {reason}")

    async def _reply(self, request: PromptRequest[Any], messages: list[Message]) -> Reply:
        """Return what the judge replies, from the ledger where it replied before."""
        line = self._line
        body = gateway.request_body(request, messages, line.parameters)
        asked = Asked(gateway.request_hash(body), line.job.condition.replicate, self._unit.round)
        while other := line.on_the_way.get(asked):
            await asyncio.wait([other])  # another unit asks the same: its answer will be in the ledger
        line.on_the_way[asked] = asyncio.get_running_loop().create_future()
        try:
            known = await line.database.do(CacheLookup(asked))
            if known is not None:
                return gateway.read_reply(known)
            # By these the ledger finds the call: what a request's hash begins with, and the unit.
            with about(call=asked.request[:16], unit=self._unit.pk):
                batched = await self._from_batch(request, asked, body) if line.uses_batches else None
                return batched or await self._sent(request, asked, body)
        finally:
            line.on_the_way.pop(asked).set_result(None)

    async def _from_batch(self, request: PromptRequest[Any], asked: Asked, body: dict[str, Any]) -> Reply | None:
        """Return what a batch brought, None where the request is to be sent by itself. Raises Deferred."""
        line = self._line
        is_live = line.job.mode == Job.Mode.LIVE
        expected = _expected(body, request)
        lookup = BatchLookup(self._unit, request.name, asked.request, None if is_live else body, expected)
        stored: Batched | None = await line.database.do(lookup)
        if stored:
            came = gateway.read_batched(stored.status, stored.response)
            problem = _problem(request, came) if isinstance(came, Reply) else ""
            entry = Entry(self._unit, request.name, asked, came, problem, None, stored.batch)
            await line.database.do(entry, urgent=True)
            if isinstance(came, Reply):
                line.check_model(came.model)
                return came
            if not came.again or stored.tries + 1 >= TRIES:
                self._give_up(came, stored.tries + 1)
            await line.database.do(lookup._replace(tries=stored.tries + 1))
        if is_live:
            return None
        raise Deferred

    async def _sent(self, request: PromptRequest[Any], asked: Asked, body: dict[str, Any]) -> Reply:
        """Send a request until it is answered. The seat is kept until what came is safely stored."""
        line = self._line
        leave = _expected(body, request)
        attempt = 0
        while True:
            attempt += 1
            async with line.seats:
                await self._wait_for_leave(leave)
                try:
                    came: Reply | Failed = await line.gateway.send(body)
                except Failed as error:
                    came = error
                problem = _problem(request, came) if isinstance(came, Reply) else ""
                entry = Entry(self._unit, request.name, asked, came, problem, leave)
                await line.database.do(entry, urgent=not line.is_held_up)  # its seat is taken until then
            if isinstance(came, Reply):
                line.check_model(came.model)
                return came
            _log.warning("attempt %s: %s", attempt, came)
            tries = TRIES_WHEN_TOLD_TO_WAIT if came.status == 429 else TRIES
            if not came.again or attempt >= tries:
                self._give_up(came, attempt)
            await line.wait(await self._backoff(came, attempt))

    def _give_up(self, came: Failed, tries: int) -> NoReturn:
        """Raise what a request means that was not answered: Halt where others fail like it, or UnitFailure."""
        if came.fatal:
            raise Halt(str(came))
        self._line.count_failure(str(came))
        raise UnitFailure(str(came) if tries == 1 else f"{came} (tried {tries} times)")

    async def _wait_for_leave(self, leave: Permit) -> None:
        """Wait until the judge's rate lets a request go. Raises Halt where the budget is used up."""
        line = self._line
        leaves_at = 0.0
        if line.needs_leave:
            leaves_at = await line.database.do(leave, urgent=not line.is_held_up)
            line.queue = leaves_at - time.monotonic()
        try:
            while (seconds := max(leaves_at, line.open_at) - time.monotonic()) > 0:
                await line.wait(seconds)
            if line.stopped.is_set():
                raise Stopped
        except Stopped:
            if line.needs_leave:
                await line.database.do(PermitRelease(leave))
            raise

    async def _backoff(self, failed: Failed, attempt: int) -> float:
        """Return how long to wait before the next try; an endpoint's own wish holds for everybody."""
        longest = min(_LONGEST_BACKOFF, BACKOFF * 2.0 ** (attempt - 1))
        if failed.retry_after is not None:
            await self._line.hold_off(failed.retry_after)
            return failed.retry_after + random.uniform(0, 0.1) * longest  # noqa: S311  # no secret
        return longest * random.uniform(0.5, 1)  # noqa: S311


async def gather_all(asked: Iterable[Awaitable[_Result]]) -> list[_Result | UnitFailure]:
    """Return what all come to, or why there is nothing.

    All are waited for, also where the job is stopped: what is in flight is paid.
    """
    results: list[_Result | UnitFailure] = []
    stopped: list[BaseException] = []
    for found in await asyncio.gather(*asked, return_exceptions=True):
        if not isinstance(found, BaseException) or isinstance(found, UnitFailure):
            results.append(found)
        else:
            stopped.append(found)
    if stopped:  # what halts the job says why
        raise min(stopped, key=lambda error: isinstance(error, Stopped))
    return results


def _read(request: PromptRequest[Value], reply: Reply) -> Value:
    if reply.text is None:
        raise WrongAnswer(reply.problem)
    return request.read(reply.text)


def _problem(request: PromptRequest[Any], reply: Reply) -> str:
    try:
        _read(request, reply)
    except WrongAnswer as error:
        return str(error)
    return ""


def _expected(body: dict[str, Any], request: PromptRequest[Any]) -> Permit:
    """Return about how many tokens a request and its answer will have: four characters are about one."""
    characters = sum(len(message["content"]) for message in body["messages"])
    return Permit(characters // 4 + 1, request.tokens_out)
