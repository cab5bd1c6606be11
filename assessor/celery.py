"""The Celery application; tasks live in each app's tasks.py."""

import logging
import os
import sys
from logging.config import dictConfig
from typing import Any

from celery import Celery
from celery.signals import celeryd_after_setup, setup_logging
from django.conf import settings
from kombu import Queue
from kombu.transport import TRANSPORT_ALIASES

from assessor.runtime.folders import with_packages
from assessor.runtime.garbage import freeze_what_is_loaded

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assessor.settings")
# `migrate` has checked the project; to check it again, a worker would load every page first: a sixth of its start.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
# The default where nobody runs a broker: message files in a folder.
TRANSPORT_ALIASES["embedded"] = "assessor.runtime.broker:Transport"

_NICENESS = 10  # of 19: a web process gets nine times a worker's share of a processor that both want
_path = with_packages(sys.path[:])
app = Celery("assessor")
# Celery's support of Django puts the current folder first, whatever that is; the program's is meant.
sys.path[:] = _path
app.config_from_object("django.conf:settings", namespace="CELERY")
# Jobs take hours, imports minutes: a worker of its own for either (-Q) keeps one from waiting for the other.
app.conf.task_queues = (Queue("celery"), Queue("jobs"))
app.autodiscover_tasks()


@setup_logging.connect
def log_as_all_processes_do(loglevel: int, **kwargs: Any) -> None:
    """Have workers and beat write their lines as web processes do, from the level on that their command names."""
    dictConfig(settings.LOGGING)
    logging.getLogger().setLevel(loglevel)


@celeryd_after_setup.connect
def give_way(**kwargs: Any) -> None:
    """Let people go first where a processor is wanted: a save is not to wait for a job or an import.

    Services and containers do not see each other's niceness: theirs are weighed in deploy/systemd and compose.yaml.
    """
    os.nice(_NICENESS)


@celeryd_after_setup.connect
def share_what_is_loaded(**kwargs: Any) -> None:
    """Have the garbage collector of children, which are forked next, leave alone what they share with the worker."""
    freeze_what_is_loaded()
