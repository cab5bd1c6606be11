"""Who does which unit: claimed by conditional updates, given back by who stops, taken from who died."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from assessor.campaigns import history, signals
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, ModelJudge, Runner, Unit
from assessor.runtime import processes

_PATIENCE = timedelta(seconds=60)  # without a sign of life, be it another machine's or a process that hangs
_LONGEST_ERROR = 2_000  # characters


@transaction.atomic
def claim(runner: Runner, most: int) -> list[Unit]:
    """Claim units that wait, the first ones first. Of two runners at once no two get the same."""
    waiting = Unit.objects.filter(job=runner.job_id, state=Unit.State.WAITING)
    free = waiting.order_by("pk")
    if connection.vendor == "postgresql":
        free = free.select_for_update(skip_locked=True, no_key=True)
    pks = list(free.values_list("pk", flat=True)[:most])
    if not pks:
        return []
    claimed = waiting.filter(pk__in=pks)
    claimed.update(state=Unit.State.CLAIMED, runner=runner, attempts=F("attempts") + 1, error="")
    return list(Unit.objects.filter(pk__in=pks, runner=runner).select_related("topic").order_by("pk"))


def finish(runner: Runner, job: Job, ended: Sequence[tuple[Unit, Any]]) -> dict[str, int]:
    """Store what came of units and mark them done; those whose result is an exception fail with its text.

    A unit that is not this runner's any more is left alone: somebody else does it, or did. Return what is to be counted
    on the job. Call it in a transaction.
    """
    mine = set(_claimed_by(runner).filter(pk__in=[unit.pk for unit, _ in ended]).values_list("pk", flat=True))
    failed = [(unit, result) for unit, result in ended if unit.pk in mine and isinstance(result, Exception)]
    done = [(unit, result) for unit, result in ended if unit.pk in mine and not isinstance(result, Exception)]
    if done:
        job_kind_named(job.kind).store(job, done)
    now = timezone.now()
    over = {"runner": None, "ended_at": now}
    Unit.objects.filter(pk__in=[unit.pk for unit, _ in done]).update(state=Unit.State.DONE, **over)
    for unit, error in failed:
        text = (str(error) or type(error).__name__).replace("\x00", "\ufffd")[:_LONGEST_ERROR]
        Unit.objects.filter(pk=unit.pk).update(state=Unit.State.FAILED, error=text, **over)
    return {"units_done": len(done), "units_failed": len(failed)}


def defer(runner: Runner, units: Sequence[Unit]) -> None:
    """Have units of a runner wait for what batches bring. Call it in a transaction."""
    deferred = _claimed_by(runner).filter(pk__in=[unit.pk for unit in units])
    Unit.objects.filter(pk__in=list(deferred.values_list("pk", flat=True))).update(
        state=Unit.State.DEFERRED, runner=None
    )


@transaction.atomic
def end_if_all_is_done(job_id: int) -> bool:
    """End a job all of whose units are done or failed, and say whether that was so.

    Who has nothing more to do looks, not each who does a unit.
    """
    ended = Job.objects.filter(
        pk=job_id, state=Job.State.RUNNING, topics_left=[], units_total=F("units_done") + F("units_failed")
    ).update(state=Job.State.DONE, ended_at=timezone.now())
    if ended:
        job = Job.objects.select_related("campaign").get(pk=job_id)
        counts = {"done": job.units_done, "failed": job.units_failed, "calls": job.calls, "cost": str(job.cost)}
        history.record("job done", job.name, campaign=job.campaign, person=None, **counts)
        signals.ended.send(Job, campaign_id=job.campaign_id, pks=[job.pk])
    return bool(ended)


@transaction.atomic
def leave(runner: Runner) -> None:
    """Give back what a runner had claimed, and its seats."""
    _claimed_by(runner).update(state=Unit.State.WAITING, runner=None)
    Runner.objects.filter(pk=runner.pk).delete()


@transaction.atomic
def reap_dead_runners(*, judge: ModelJudge | None = None) -> int:
    """Give back what dead runners had claimed, of one judge or of all; return how many there were."""
    runners: QuerySet[Runner] = judge.runners.all() if judge else Runner.objects.all()
    dead = [runner for runner in runners if not processes.is_alive(runner, _PATIENCE)]
    for runner in dead:
        leave(runner)
    return len(dead)


def _claimed_by(runner: Runner) -> QuerySet[Unit]:
    claimed = Unit.objects.filter(runner=runner.pk, state=Unit.State.CLAIMED)
    return claimed.select_for_update(no_key=True) if connection.vendor == "postgresql" else claimed
