"""Running a job in this process: claims units, asks, stores what came, until all is done or somebody says stop."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import Error as DatabaseFailure
from django.db import close_old_connections, connection, transaction
from django.db.models import F, Sum
from django.utils import timezone

from assessor.campaigns import history, signals
from assessor.llm import batch_requests, claims, gateway, ledger, limits
from assessor.llm.gateway import Gateway, Unusable
from assessor.llm.job_kind import UnitFailure, job_kind_named
from assessor.llm.ledger import Permit
from assessor.llm.models import Job, ModelJudge, Runner, StoredPrompt, Unit
from assessor.llm.named_models import last_model
from assessor.llm.preparation import prepare
from assessor.llm.prompt_requests import (
    Asking,
    BatchLookup,
    CacheLookup,
    Deferred,
    Halt,
    Line,
    PermitRelease,
    Stopped,
)
from assessor.llm.prompts import PromptSet
from assessor.llm.signals import job_worked_on
from assessor.llm.write_batches import Grouped
from assessor.runtime import processes
from assessor.runtime.clock import shared_now
from assessor.runtime.connections import AWAY
from assessor.runtime.logs import about

_SIGN_OF_LIFE = 1.0  # seconds
_LONGEST_PAUSE = 0.02  # seconds
_IDLE = 2.0  # seconds of a runner without a unit that waits for those of others
_MOST_FOR_BATCHES = 500  # units at work that send nothing
_log = logging.getLogger(__name__)


class UnitResult(NamedTuple):
    """Work for the database: a unit's result, or the exception why there is none."""

    unit: Unit
    result: Any


class UnitDeferral(NamedTuple):
    """Work for the database: a unit waits for what a batch brings."""

    unit: Unit


class _Start(NamedTuple):
    """What a runner begins with."""

    runner: Runner
    job: Job
    prompts: PromptSet
    setting: gateway.Setting
    uses_batches: bool


def run_job(job_id: int, is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Work on a job until there is nothing more to do for this process, or it is told to stop.

    Any number of processes may work on one job at once. What no unit is to blame for halts the job with its reason.
    """
    with about(job=job_id):
        asyncio.run(_run(job_id, is_stopping))
        _tell(job_id)


def _tell(job_id: int) -> None:
    close_old_connections()  # the job may have taken hours
    job_worked_on.send_robust(Job, job=Job.objects.select_related("campaign").get(pk=job_id))


async def _run(job_id: int, is_stopping: Callable[[], bool]) -> None:
    running = Running(is_stopping)
    try:
        start = await running.database.alone(_start, job_id, is_stopping)
        if start is not None:
            await running.work(start)
    except DatabaseFailure:
        raise  # it can't be told there; the job is taken up again when the database is back
    except Exception as error:
        _log.exception("job %s broke off", job_id)
        await running.database.alone(halt, job_id, f"{type(error).__name__}: {error}")
    finally:
        await running.database.close()


def _start(job_id: int, is_stopping: Callable[[], bool]) -> _Start | None:
    """Register this process as a runner of a job, or return None where it can't or need not be run.

    Units that the job lacks, as its launch was killed, are made first.
    """
    close_old_connections()
    claims.reap_dead_runners()
    job = Job.objects.select_related("judge__judge", "condition__protocol", "campaign").get(pk=job_id)
    try:
        setting = gateway.setting_of(job.judge)
    except Unusable as error:
        halt(job_id, str(error))
        return None
    for _ in prepare(job):
        if is_stopping():
            return None
    with transaction.atomic():
        begun = Job.objects.filter(pk=job_id, state__in=Job.ACTIVE, topics_left=[])
        if not begun.update(state=Job.State.RUNNING):
            return None
        begun.filter(started_at=None).update(started_at=timezone.now())
        if claims.end_if_all_is_done(job_id):
            return None  # it was paused or killed just before its end
        stored = StoredPrompt.objects.in_bulk(job.condition.prompts.values(), field_name="sha256")
        runner = Runner.objects.create(
            job=job,
            judge=job.judge,
            owner=processes.me(),
            alive_at=shared_now(),
        )
    texts = {prompt: stored[sha256].text for prompt, sha256 in job.condition.prompts.items()}
    uses_batches = job.mode != Job.Mode.LIVE or job.batch_requests.exists()
    return _Start(runner, job, PromptSet(str(job.condition), texts), setting, uses_batches)


@transaction.atomic
def halt(job_id: int, message: str) -> None:
    """Stop a job that can't go on, with the reason; units that are not done go on waiting."""
    message = gateway.storable(message)[:1_000]
    if Job.objects.filter(pk=job_id, state__in=Job.ACTIVE).update(state=Job.State.HALTED, message=message):
        job = Job.objects.select_related("campaign", "condition").get(pk=job_id)
        history.record("job halted", job.name, campaign=job.campaign, person=None, message=message)
        signals.ended.send(Job, campaign_id=job.campaign_id, pks=[job.pk])


class Running:
    """A job being run by this process."""

    def __init__(self, is_stopping: Callable[[], bool]) -> None:
        self.database = Grouped(self._carry_out, self._may_gather)
        self.is_stopping = is_stopping
        self._not_before = 0.0  # of the monotonic clock: when the next transaction may begin

    async def work(self, start: _Start) -> None:
        """Claim and do units until none is left or the job stops, then give back what was claimed."""
        self.runner, self.job, self.prompts, setting, uses_batches = start
        self.at_work: set[asyncio.Task[None]] = set()
        self.has_room = asyncio.Event()
        try:
            self.kind = job_kind_named(self.job.kind)
            gateway = Gateway(setting, self.job.judge.concurrency)
            self.line = Line(self.job, gateway, self.database, uses_batches=uses_batches)
            self.line.model = await self.database.alone(last_model, self.job.condition)
            await self._work()
        finally:
            await self.database.alone(claims.leave, self.runner)
            await self.database.alone(claims.end_if_all_is_done, self.job.pk)

    async def _work(self) -> None:
        supervision = asyncio.create_task(self._supervise())
        supervision.add_done_callback(self._end_of_supervision)
        try:
            await self._feed()
        finally:
            # Whatever happened: what is in flight is paid, so it is waited for and stored.
            if not self.line.stopped.is_set() and self.at_work:
                self.line.stop()
            await self._settle()
            supervision.cancel()
            await asyncio.gather(supervision, return_exceptions=True)
            await self.line.gateway.close()
        if not supervision.cancelled() and (error := supervision.exception()):
            raise error

    def _end_of_supervision(self, task: "asyncio.Task[None]") -> None:
        """Without signs of life others would take this runner for dead: it stops."""
        self.line.stop()
        self.has_room.set()

    async def _feed(self) -> None:
        """Keep enough units at work to fill all seats, though some wait for the database."""
        while not self.line.stopped.is_set():
            self.has_room.clear()
            room = self._most_at_work() - len(self.at_work)
            # Many at once: each claim is a transaction, and what units need is read for all of them together.
            if room >= max(1, self._most_at_work() // 4):
                units = await self.database.alone(claims.claim, self.runner, room)
                if not units and not self.at_work:
                    return
                if units:
                    await self._begin(units)
                    continue
            await self._wait_for_room()

    def _most_at_work(self) -> int:
        if self.job.mode != Job.Mode.LIVE:
            return _MOST_FOR_BATCHES
        return max(self.line.seats.number, 1) * 2 + 8 if self.line.seats.number else 0

    async def _wait_for_room(self) -> None:
        """Wait until a unit has ended or the number of seats may have changed."""
        try:
            await asyncio.wait_for(self.has_room.wait(), _IDLE)
        except TimeoutError:
            return

    async def _begin(self, units: list[Unit]) -> None:
        works = await self.database.alone(self.kind.prepare, self.job, units)
        for unit in units:
            task = asyncio.create_task(self._one(unit, works[unit.pk]))
            self.at_work.add(task)
            task.add_done_callback(self._end_of)

    def _end_of(self, task: "asyncio.Task[None]") -> None:
        self.at_work.discard(task)
        self.has_room.set()
        if not task.cancelled() and (error := task.exception()):
            # The database is gone, or there is a mistake of ours: this runner ends, its units go on waiting.
            _log.error("job %s: a unit broke off", self.job.pk, exc_info=error)
            self.line.stop()

    async def _one(self, unit: Unit, work: Any) -> None:
        try:
            result = await self._result(unit, work)
        except Deferred:
            await self.database.do(UnitDeferral(unit))
            return
        except Stopped:
            return
        except Halt as error:
            self.line.stop()
            await self.database.alone(halt, self.job.pk, str(error))
            return
        try:
            await self.database.do(UnitResult(unit, result))
        except UnitFailure as error:
            await self.database.do(UnitResult(unit, error))
        except AWAY:
            raise
        except Exception as error:
            _log.exception("job %s: the result of a unit could not be stored", self.job.pk)
            await self.database.do(UnitResult(unit, UnitFailure(f"The result could not be stored: {error}")))

    async def _result(self, unit: Unit, work: Any) -> Any:
        """Return a unit's result, or the exception that says why there is none."""
        if isinstance(work, UnitFailure):
            return work
        try:
            return await self.kind.carry_out(work, Asking(self.line, unit, self.prompts))
        except (Stopped, Halt, *AWAY):
            raise
        except UnitFailure as error:
            return error
        except Exception as error:
            _log.exception("job %s: a unit failed", self.job.pk)
            reason = f"{type(error).__name__}: {error}"
            self.line.count_failure(reason)
            return UnitFailure(reason)

    async def _settle(self) -> None:
        """Wait for what is in flight."""
        while self.at_work:
            await asyncio.wait(self.at_work)

    async def _supervise(self) -> None:
        """Give signs of life, take one's share of the judge's seats, and see whether the job was stopped."""
        while True:
            shared = await self.database.alone(self._beat)
            if shared is None or self.is_stopping():
                return
            self.line.seats.change(shared.seats)
            self.line.open_at = max(self.line.open_at, asyncio.get_running_loop().time() + shared.wait)
            self.has_room.set()
            await asyncio.sleep(_SIGN_OF_LIFE)

    def _beat(self) -> limits.Share | None:
        shared = limits.share(self.runner, self.line.seats.taken)
        is_running = Job.objects.filter(pk=self.job.pk, state=Job.State.RUNNING).exists()
        return shared if is_running else None

    def _may_gather(self) -> bool:
        """Say whether work for the database may wait a little: no request leaves later for it."""
        seats = self.line.seats
        return self.line.is_held_up or seats.wanted > seats.number // 2

    def _carry_out(self, group: Sequence[Any]) -> list[Any]:
        """Do a group's work for the database: first what only reads, then all writes in one transaction."""
        results: list[Any] = [None] * len(group)
        self._look([(place, work) for place, work in enumerate(group) if isinstance(work, CacheLookup)], results)
        leaves = [(place, work) for place, work in enumerate(group) if isinstance(work, Permit)]
        given_back = [work.leave for work in group if isinstance(work, PermitRelease)]
        entries = [work for work in group if isinstance(work, ledger.Entry)]
        ended = [(work.unit, work.result) for work in group if isinstance(work, UnitResult)]
        batched = [(place, work) for place, work in enumerate(group) if isinstance(work, BatchLookup)]
        deferred = [work.unit for work in group if isinstance(work, UnitDeferral)]
        if leaves or given_back or entries or ended or batched or deferred:
            time.sleep(max(0.0, self._not_before - time.monotonic()))
            with transaction.atomic():
                begun = time.monotonic()
                # Judge, job, units: everybody locks in this order.
                asked = self._reserve(leaves, entries)
                more = self._record(entries) if entries else {}
                if self.line.needs_leave:
                    cost = more.get("cost", Decimal(0))
                    more["calls_begun"] = self._let_go(asked, given_back, entries, cost, results)
                if batched:
                    found = batch_requests.look_up(self.job, [lookup for _, lookup in batched])
                    for place, lookup in batched:
                        results[place] = found.get(lookup.request)
                if deferred:
                    claims.defer(self.runner, deferred)
                if ended:
                    more |= claims.finish(self.runner, self.job, ended)
                Job.count(self.job.pk, **more)
            if connection.vendor == "sqlite":
                # Its only write lock is the assessors' too, and who waits for it looks only now and then.
                self._not_before = time.monotonic() + min(_LONGEST_PAUSE, time.monotonic() - begun)
        return results

    def _look(self, looks: list[tuple[int, CacheLookup]], results: list[Any]) -> None:
        if not looks:
            return
        known = ledger.find(self.job.judge, [look.asked for _, look in looks])
        for place, look in looks:
            results[place] = known.get(look.asked)
        if known:
            found = sum(look.asked in known for _, look in looks)
            Job.count(self.job.pk, answered_from_ledger=found)

    def _reserve(
        self, leaves: list[tuple[int, Permit]], entries: list[ledger.Entry]
    ) -> list[tuple[int, Permit, float]]:
        """Add when each request may leave, by the monotonic clock; count the tokens of those that came back."""
        judge: ModelJudge = self.job.judge
        if judge.tokens_per_minute and entries:
            came = [(entry.leave, entry.came) for entry in entries if isinstance(entry.came, gateway.Reply)]
            more = sum(reply.tokens_in + reply.tokens_out - leave.tokens for leave, reply in came if leave)
            limits.correct(judge.pk, more)
        waits = limits.reserve(judge.pk, [leave.tokens for _, leave in leaves]) if leaves else []
        reserved_at = time.monotonic()  # what the database takes from here on must not make requests late
        return [(*asked, reserved_at + wait) for asked, wait in zip(leaves, waits, strict=True)]

    def _let_go(
        self,
        asked: list[tuple[int, Permit, float]],
        given_back: list[Permit],
        entries: list[ledger.Entry],
        cost: Decimal,
        results: list[Any],
    ) -> int:
        """Say of each request when it leaves, or that the budget is used up, counted over all runners.

        asked: their places, and when the rate lets them; given_back: those that did not leave after all; entries: those
        that came back, which cost so much. Return by how many more have begun.
        """
        over = [*given_back, *(entry.leave for entry in entries if entry.leave)]
        calls, let_go = -len(given_back), -sum(map(self._cost, over), Decimal(0))
        job = Job.locked(self.job.pk)
        spent = job.cost + cost
        if job.most_cost is not None:
            spent += Runner.objects.filter(job=job).aggregate(sum=Sum("cost_let_go"))["sum"] or 0
        for place, leave, time_ in asked:
            expected = self._cost(leave)
            if why := job.refuses(job.calls_begun + calls, spent + let_go + expected):
                results[place] = Halt(why)
            else:
                calls, let_go = calls + 1, let_go + expected
                results[place] = time_
        if let_go:
            Runner.objects.filter(pk=self.runner.pk).update(cost_let_go=F("cost_let_go") + let_go)
        return calls

    def _cost(self, leave: Permit) -> Decimal:
        return self.job.judge.cost(leave.tokens_in, leave.tokens_out)

    def _record(self, entries: list[ledger.Entry]) -> dict[str, Any]:
        more = ledger.record(self.job.judge, self.job, entries)
        if self.line.uses_batches:
            batch_requests.forget(self.job, [entry.asked.request for entry in entries])
        return more
