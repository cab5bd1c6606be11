"""Processes that are started together end together, and import the program, whatever folder they run in."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
SLEEPS = "import os, time; print(f'{os.getpid()}\\n', end='', flush=True); time.sleep(600)"  # in one write
STARTS = """
import os, sys
from pathlib import Path
from assay.processes import Processes
with Processes(os.environ, Path(sys.argv[1])) as processes:
    for code in sys.argv[2:]:
        processes.start("-c", code)
    processes.wait()
"""


def start(folder: Path, *codes: str) -> "subprocess.Popen[str]":
    (folder / "assessor.py").write_text("print('taken from the current folder', flush=True)\n")
    command = [sys.executable, "-c", STARTS, str(folder), *codes]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def lines(process: "subprocess.Popen[str]", number: int) -> list[str]:
    assert process.stdout
    return [process.stdout.readline().strip() for _ in range(number)]


def test_when_one_ends_the_others_do(tmp_path: Path):
    imports = "import assessor.runtime.folders as f; print(f.FILES, flush=True)"
    with start(tmp_path, SLEEPS, imports) as process:
        pid, folder = sorted(lines(process, 2), key=lambda line: not line.isdigit())
        assert (folder, process.wait(timeout=30)) == (str(ROOT), 0)
    assert not psutil.pid_exists(int(pid))


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_a_plain_kill_ends_all(tmp_path: Path, ending: signal.Signals):
    with start(tmp_path, SLEEPS, SLEEPS) as process:
        pids = lines(process, 2)
        os.kill(process.pid, ending)
        assert process.wait(timeout=30) == 0
    assert not any(psutil.pid_exists(int(pid)) for pid in pids)


@pytest.mark.parametrize(("queue", "is_loaded"), [("jobs", True), ("celery", False)])
def test_children_of_a_worker_share_what_it_loads(tmp_path: Path, queue: str, is_loaded: bool):
    code = (
        "import gc, sys; from assessor.celery import app; app.Worker(queues=[sys.argv[1]], quiet=True).on_start();"
        "print('openai.resources.chat' in sys.modules, 'httpx2' in sys.modules, gc.get_freeze_count() > 100_000,"
        "'assessor.urls' in sys.modules)"  # all pages, which Django's checks load
    )
    env = os.environ | {"ASSAY_DATA_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code, queue], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.stdout.split() == [str(is_loaded), str(is_loaded), "True", "False"], done.stderr
