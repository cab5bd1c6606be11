"""Who wants to know that a process worked on a job: apps above register, so that llm need not know them."""

import logging
from collections.abc import Callable

from django.db import close_old_connections

from assessor.llm.models import Job

Follower = Callable[[Job], None]
_followers: list[Follower] = []
_log = logging.getLogger(__name__)


def register(follower: Follower) -> None:
    """Have a function called, outside transactions, once a process has done what it could of a job, ended or not."""
    _followers.append(follower)


def tell(job_id: int) -> None:
    """Call all who registered. What was done stands, whatever goes wrong there."""
    close_old_connections()  # the job may have taken hours
    for follower in _followers:
        try:
            follower(Job.objects.select_related("campaign").get(pk=job_id))
        except Exception:
            _log.exception("What follows job %s failed", job_id)
