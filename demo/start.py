"""Starts the demo: makes the database, loads the demo campaign, runs web, workers and rehearsal until Ctrl-C.

For development on one's own machine only: its passwords are public and it speaks plain HTTP.
"""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ASSAY_DATA_DIR", ROOT / "var" / "demo")).resolve()
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


def has_static_files(data: Path) -> bool:
    """Say whether the static files were collected since any of them changed; compressing them takes a while."""
    collected = data / "static" / "staticfiles.json"
    sources = [ROOT / "requirements.txt", *(ROOT / "static").rglob("*")]
    return collected.exists() and all(path.stat().st_mtime < collected.stat().st_mtime for path in sources)


def prepare(data: Path, env: dict[str, str]) -> None:
    """Make the database and the static files of a folder of data, at the same time."""
    commands = [["migrate", "--verbosity", "0"]]
    if not has_static_files(data):
        commands.append(["collectstatic", "--noinput", "--verbosity", "0"])
    processes = [subprocess.Popen([sys.executable, "manage.py", *words], cwd=ROOT, env=env) for words in commands]
    try:
        failed = [words for words, process in zip(commands, processes, strict=True) if process.wait() != 0]
    finally:
        for process in processes:
            process.kill()
    if failed:
        sys.exit(f"{' and '.join(words[0] for words in failed)} failed; the lines above say why.")


def main() -> None:
    port = free_port(int(os.environ.get("PORT", "8000")))
    model_port = free_port(port + 1)
    model_url = f"http://127.0.0.1:{model_port}/v1"
    # Nothing of a real installation's environment: the demo's people have public passwords.
    foreign = ("ASSAY_", "CELERY_", "DATABASE_URL")
    env = {name: value for name, value in os.environ.items() if not name.startswith(foreign)} | {
        "ASSAY_DATA_DIR": str(DATA),
        "ASSAY_HTTPS": "0",
        "ASSAY_DEMO": "1",
        # The demo asks nobody but the endpoint on this machine that has no model behind it.
        "ASSAY_LLM_HOSTS": "127.0.0.1",
        "ASSAY_REHEARSAL_URL": model_url,
        # Else each thread has a heap of its own.
        "MALLOC_ARENA_MAX": "2",
    }

    prepare(DATA, env)
    web = [
        sys.executable,
        "-m",
        "gunicorn",
        "assessor.wsgi",
        "--bind",
        f"127.0.0.1:{port}",
        "--worker-class",
        "gthread",
        "--graceful-timeout",
        "5",
    ]
    # Root, as in containers, would be shown two warnings before the address: the demo keeps nothing worth guarding.
    quiet = ["-W", "ignore:You're running the worker with superuser privileges"]
    worker = [sys.executable, *quiet, "-m", "celery", "--quiet", "-A", "assessor", "worker", "--loglevel", "ERROR"]
    worker += ["--without-gossip", "--without-mingle"]
    # A fifth of a second makes a person's eye follow the progress bar.
    model = [sys.executable, "manage.py", "serve_rehearsal_llm", "--port", str(model_port), "--latency", "0.2"]
    commands = [
        [*web, "--threads", "8", "--log-level", "warning"],
        [*worker, "-Q", "celery", "--concurrency", "1", "-n", "imports@%h"],
        [*worker, "-Q", "jobs", "--concurrency", "2", "-n", "jobs@%h", "--beat"],
    ]
    processes: list[subprocess.Popen[bytes]] = []

    def start(command: list[str]) -> None:
        # In a group of its own: Ctrl-C reaches this process alone, which ends each of the others once.
        processes.append(subprocess.Popen(command, cwd=ROOT, env=env, process_group=0))

    # Ctrl-C, a plain kill and a closed terminal all end the whole demo.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: sys.exit(0))
    try:
        # What is loaded asks the rehearsal endpoint for a part of its labels.
        start(model)
        wait_for(f"{model_url}/models", processes)
        load = [sys.executable, "manage.py", "load_demo", "--model-url", model_url]
        subprocess.run(load, cwd=ROOT, env=env, check=True)
        for command in commands:
            start(command)
        wait_for(f"http://127.0.0.1:{port}/login/", processes)
        tell(port)
        while all(process.poll() is None for process in processes):
            time.sleep(0.5)
        sys.exit("A part of the demo ended; the lines above say why.")
    except KeyboardInterrupt:
        print("\nThe demo ends. Its data stays in", DATA)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_for(url: str, processes: list["subprocess.Popen[bytes]"]) -> None:
    """Return when the page answers; end the demo when it does not or a process has died."""
    until = time.monotonic() + START_LIMIT
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < until and all(process.poll() is None for process in processes):
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


if __name__ == "__main__":
    main()
