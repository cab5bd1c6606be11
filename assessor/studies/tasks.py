"""Background work on studies."""

from typing import Any

from celery import shared_task

from assessor.llm.models import Job
from assessor.studies import control_sets


@shared_task
def ask_control_sets() -> None:
    """Check the control sets that were asked, and ask those whose time has come."""
    control_sets.ask_those_due()


def check_job(job: Job, **kwargs: Any) -> None:
    """Check a control set at once when the job that asked it is done."""
    if job.state == Job.State.DONE and job.condition.is_control:
        control_sets.check(job)
