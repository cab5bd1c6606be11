"""assay serve: an installation of one machine for real use, with all its processes, until Ctrl-C.

Migrations and static files come first. It is set up by the same environment variables as any other installation.
"""

import os
import sys

from assay.processes import Processes, prepare
from assessor.runtime.folders import FILES, data_folder

WEB = ["-m", "gunicorn", "-c", str(FILES / "deploy" / "gunicorn.conf.py"), "assessor.wsgi"]
CELERY = ["-m", "celery", "-A", "assessor"]
# Those of the deployment (compose.yaml, deploy/systemd).
SERVICES = {
    "web": WEB,
    "imports": [*CELERY, "worker", "-Q", "celery", "-n", "imports@%h", "--concurrency", "1"],
    "jobs": [*CELERY, "worker", "-Q", "jobs", "-n", "jobs@%h", "--concurrency", "4"],
    "beat": [*CELERY, "beat"],
}
PATIENCE = 180  # seconds: requests to models are paid, and may come back and be stored


def main() -> None:
    env = {"MALLOC_ARENA_MAX": "2"} | os.environ
    prepare(data_folder(), env)
    with Processes(env, patience=PATIENCE) as processes:
        for words in SERVICES.values():
            processes.start(*words)
        try:
            processes.wait()
        except KeyboardInterrupt:
            return
        sys.exit("A part of Assay ended; the lines above say why.")
