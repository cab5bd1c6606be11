"""How the web processes run: gunicorn -c deploy/gunicorn.conf.py assessor.wsgi"""

import os

from assessor.logs import configuration

# Processes share nothing but the database; threads of one share its memory. A thread serves a request to its end.
workers = int(os.environ.get("WEB_CONCURRENCY") or 2)
worker_class = "gthread"
threads = 8
bind = os.environ.get("ASSAY_BIND") or "127.0.0.1:8000"
timeout = 60  # seconds in which a process must show that it lives; requests may take longer
graceful_timeout = 30  # seconds that requests have to end in when it is stopped
keepalive = 75  # longer than the proxy keeps a connection that nothing is asked on
worker_tmp_dir = "/dev/shm"  # noqa: S108  # in memory: a slow disk is no dead process

logconfig_dict = configuration(os.environ.get("ASSAY_LOG") or "lines")
logconfig_dict["loggers"]["gunicorn.error"] = {"level": "INFO", "propagate": True}
