"""Background work on jobs: ids in. The database says what is to be done; a message is only a hint to look."""

import os
from typing import Any

from celery import shared_task
from celery.signals import task_failure, worker_ready, worker_shutting_down
from django.conf import settings
from django.db import close_old_connections

from assessor.collection import processes
from assessor.llm import claims, running
from assessor.llm.models import Job, Runner


@shared_task
def work_on_job(job_id: int) -> None:
    """Work on a job, unless as many processes as it may have are at it."""
    claims.bury_dead_runners()
    if Runner.objects.filter(job=job_id).count() < settings.RUNNERS_PER_JOB:
        running.run_job(job_id)


@shared_task
def take_up_jobs() -> None:
    """Give back what dead runners had claimed, and send hints for jobs that nobody works on."""
    claims.bury_dead_runners()
    for pk in Job.objects.filter(state__in=Job.ACTIVE, runners=None).values_list("pk", flat=True):
        hint(pk)


def hint(job_id: int) -> None:
    """Tell the workers of a job."""
    for _ in range(settings.RUNNERS_PER_JOB):
        work_on_job.delay(job_id)


@worker_ready.connect
def take_up_at_start(**kwargs: Any) -> None:
    """Take up what a killed worker left: the queue may have lost its hint."""
    close_old_connections()
    take_up_jobs()


@task_failure.connect
def take_up_what_a_killed_child_left(**kwargs: Any) -> None:
    """The worker goes on when one of its child processes is killed."""
    close_old_connections()
    take_up_jobs()


@worker_shutting_down.connect
def tell_runners(**kwargs: Any) -> None:
    """Have the children of this worker end their work on jobs, or a shutdown would wait for whole jobs."""
    close_old_connections()
    Runner.objects.filter(parent=processes.identity(os.getpid())).update(told_to_stop=True)
