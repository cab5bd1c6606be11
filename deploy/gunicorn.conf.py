"""How the web processes run: gunicorn -c deploy/gunicorn.conf.py assessor.wsgi"""

import os
import sys

from assessor.runtime.environment import choice, number, text
from assessor.runtime.folders import with_packages
from assessor.runtime.logs import configuration

# Gunicorn puts the current folder first among those where modules are looked for, unless it is there: last will do.
if sys.path[0] == os.getcwd():
    sys.path[:] = [*with_packages(sys.path[1:]), os.getcwd()]

# Processes share nothing but the database; threads of one share its memory. A thread serves a request to its end.
workers = number("WEB_CONCURRENCY", default=2)
worker_class = "gthread"
threads = 8
bind = text("ASSAY_BIND", default="127.0.0.1:8000")
timeout = 60  # seconds in which a process must show that it lives; requests may take longer
graceful_timeout = 30  # seconds that requests have to end in when it is stopped
keepalive = 75  # longer than the proxy keeps a connection that nothing is asked on
control_socket_disable = True  # nobody controls it that way, and its user has no home to keep a socket in
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108  # in memory: a slow disk is no dead process

logconfig_dict = configuration(choice("ASSAY_LOG", ("lines", "json")))
logconfig_dict["loggers"]["gunicorn.error"] = {"level": "INFO", "propagate": True}
