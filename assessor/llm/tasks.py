"""Background work on jobs: ids in. The database says what is to be done; a message is only a hint to look."""

import multiprocessing
import time
from typing import Any

from celery.signals import worker_init, worker_shutting_down
from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q

from assessor.celery import app
from assessor.llm import batches, claims, runner, trials
from assessor.llm.actions import hint
from assessor.llm.models import Batch, BatchRequest, Job, Runner, Unit
from assessor.runtime.hints import is_full
from assessor.runtime.workers import at_start_and_after_deaths

# Set when this worker is told to stop. Made before the children are forked, who see it too: a job takes hours, and a
# shutdown would wait for it.
_stopping = multiprocessing.Event()


@app.task
def work_on_job(job_id: int) -> None:
    """Work on a job, unless as many processes as it may have are at it."""
    claims.reap_dead_runners()
    if not _stopping.is_set() and Runner.objects.filter(job=job_id).count() < settings.RUNNERS_PER_JOB:
        runner.run_job(job_id, _stopping.is_set)
        while not _stopping.is_set() and batches.work_on(job_id):
            runner.run_job(job_id, _stopping.is_set)


@app.task
def take_up_jobs() -> None:
    """Give back what dead runners had claimed, and send hints for jobs that nobody works on, or too few.

    Fewer than at first are at a job of which some were killed, or cut off for a while.
    """
    claims.reap_dead_runners()
    has_units = Exists(Unit.objects.filter(job=OuterRef("pk"), state=Unit.State.WAITING))
    too_few = Q(at_work=0) | Q(has_units, at_work__lt=settings.RUNNERS_PER_JOB)
    left = Q(too_few, state__in=Job.ACTIVE)
    has_batches = Exists(Batch.objects.filter(job=OuterRef("pk")).exclude(state=Batch.State.DONE))
    has_rest = Q(state__in=Job.OVER) & Exists(BatchRequest.objects.filter(job=OuterRef("pk")))
    jobs = Job.objects.annotate(at_work=Count("runners")).filter(left | has_batches | has_rest)
    for pk, at_work in jobs.values_list("pk", "at_work"):
        if not is_full("jobs"):
            hint(pk, 1 if at_work else None)


def run_here(job_id: int) -> None:
    """Work on a job in this process until it is over or stopped, through all of its batches."""
    runner.run_job(job_id)
    while Job.objects.filter(pk=job_id, state__in=Job.ACTIVE, mode=Job.Mode.BATCH).exists():
        if not batches.work_on(job_id):
            time.sleep(settings.BATCH_LOOK_SECONDS)
        runner.run_job(job_id)


@app.task
def carry_out_trial(trial_id: int) -> None:
    """Try a judge."""
    trials.carry_out(trial_id)


at_start_and_after_deaths(take_up_jobs)


@worker_init.connect
def load_before_forking(sender: Any, **kwargs: Any) -> None:
    """Load what sends requests before the children of a worker on jobs are forked: they share it."""
    if "jobs" in sender.app.amqp.queues.consume_from:
        import openai
        import openai.resources.chat  # noqa: F401

        import assessor.llm.transport  # noqa: F401


@worker_shutting_down.connect
def stop_working_on_jobs(**kwargs: Any) -> None:
    """Have the children of this worker begin no more requests, and end when those in flight are answered."""
    _stopping.set()
