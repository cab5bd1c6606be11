"""assay demo: makes the database, loads the demo campaign, runs web, workers and rehearsal until Ctrl-C.

For development on one's own machine only: its passwords are public and it speaks plain HTTP.
"""

import os
import socket
import sys
import time
import urllib.error
import urllib.request

from assay.processes import Processes, prepare, without_settings
from assay.serve import CELERY
from assessor.runtime.folders import data_folder

START_LIMIT = 180  # seconds until the first page must answer


def free_port(wanted: int) -> int:
    """Return the wanted port of 127.0.0.1, or the next one that nobody listens on."""
    for port in range(wanted, wanted + 100):
        with socket.socket() as probe:
            # As the server itself does, so that the last demo's connections don't hold the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    sys.exit(f"No free port from {wanted} on.")


def main() -> None:
    data = data_folder() / "demo"  # beside a real installation's, never among them
    port = free_port(int(os.environ.get("PORT", "8000")))
    model_port = free_port(port + 1)
    model_url = f"http://127.0.0.1:{model_port}/v1"
    # Nothing of a real installation's environment: the demo's people have public passwords.
    env = without_settings(os.environ) | {
        "ASSAY_DATA_DIR": str(data),
        "ASSAY_HTTPS": "0",
        "ASSAY_DEMO": "1",
        # The demo asks nobody but the endpoint on this machine that has no model behind it, and tells nobody elsewhere.
        "ASSAY_LLM_HOSTS": "127.0.0.1",
        "ASSAY_WEBHOOK_HOSTS": "127.0.0.1",
        "ASSAY_REHEARSAL_URL": model_url,
        # Else each thread has a heap of its own.
        "MALLOC_ARENA_MAX": "2",
    }

    prepare(data, env)
    web = ["-m", "gunicorn", "assessor.wsgi", "--bind", f"127.0.0.1:{port}", "--worker-class", "gthread"]
    web += ["--no-control-socket"]
    # Root, as in containers, would be shown two warnings before the address: the demo keeps nothing worth guarding.
    quiet = ["-W", "ignore:You're running the worker with superuser privileges"]
    worker = [*quiet, "-m", "celery", "--quiet", *CELERY[2:], "worker", "--loglevel", "ERROR"]
    worker += ["--without-gossip", "--without-mingle"]
    # In its own folder, in which nothing can be taken for a package of Assay's.
    with Processes(env, data) as processes:
        try:
            # What is loaded asks the rehearsal endpoint for a part of its labels. A fifth of a second makes a person's
            # eye follow the progress bar.
            processes.start("-m", "assay", "serve_rehearsal_llm", "--port", str(model_port), "--latency", "0.2")
            wait_for(f"{model_url}/models", processes)
            processes.run("-m", "assay", "load_demo", "--model-url", model_url)
            processes.start(*web, "--graceful-timeout", "5", "--threads", "8", "--log-level", "warning")
            processes.start(*worker, "-Q", "celery", "--concurrency", "1", "-n", "imports@%h")
            processes.start(*worker, "-Q", "jobs", "--concurrency", "2", "-n", "jobs@%h", "--beat")
            wait_for(f"http://127.0.0.1:{port}/login/", processes)
            tell(port)
            processes.wait()
        except KeyboardInterrupt:
            print("\nThe demo ends. Its data stays in", data)
            return
        sys.exit("A part of the demo ended; the lines above say why.")


def wait_for(url: str, processes: Processes) -> None:
    """Return when the page answers; end the demo when it does not or a process has died."""
    until = time.monotonic() + START_LIMIT
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < until and processes.all_run():
        try:
            direct.open(url, timeout=2).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        else:
            return
    sys.exit("The demo did not start; the lines above say why.")


def tell(port: int) -> None:
    print(
        f"""
  Assay's demo runs at   http://127.0.0.1:{port}/
  Sign in as             anna or ben (assessors), olga (organizer), admin (administrator)
  Password of each       demo-password
  Ctrl-C ends it. For development only: the passwords are public, so put no real data here.
""",
        flush=True,
    )
