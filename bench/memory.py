"""What the processes of a small installation hold, and what it takes to load the project.

    python -m bench.memory [--only check|demo]

check: CPU time of `manage.py check` against that of a new Django project's; CPU, so that other work on the machine
counts little. demo: `make demo` in a folder of its own. Somebody signs in there, gives a label and opens scores; then
the web process's resident memory is looked at, and the proportional share (PSS) of all processes together, in which a
page that several share is counted once. The exit code is the number of figures over their limits.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode

import psutil

from bench import house
from bench.people import Browser
from bench.watch import MIB

ROOT = Path(__file__).resolve().parent.parent
TIMES = 5  # of each command
START = 600  # seconds until the demo must be there
MOST_CHECK = 4.0  # times a new project's
MOST_WEB, MOST_DEMO = 110.0, 600.0  # MiB


def cpu_seconds(folder: Path) -> float:
    """Return the CPU time of a project's check."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "manage.py", "check"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check(folder: Path) -> list[tuple[str, float, float]]:
    """Return how many times a new project's check ours takes: the medians, each in turn."""
    os.environ["ASSAY_DATA_DIR"] = str(folder / "data")
    (new := folder / "new").mkdir()
    subprocess.run([sys.executable, "-m", "django", "startproject", "new", str(new)], check=True)
    took: dict[Path, list[float]] = {ROOT: [], new: []}
    for at in range(TIMES + 1):
        for project, times in took.items():
            seconds = cpu_seconds(project)
            if at:  # the first one compiles what was changed
                times.append(seconds)
    ours, theirs = (statistics.median(times) for times in took.values())
    return [(f"manage.py check ({ours:.2f} s CPU), times a new project's ({theirs:.2f} s)", ours / theirs, MOST_CHECK)]


def demo(folder: Path) -> list[tuple[str, float, float]]:
    """Return what the demo's processes hold, once somebody has worked and what it does by itself is done."""
    log = folder / "log"
    env = os.environ | {"ASSAY_DATA_DIR": str(folder), "PORT": "8700", "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as out:
        started = subprocess.Popen([sys.executable, "-m", "assay", "demo"], cwd=ROOT, env=env, stdout=out, stderr=out)
    try:
        port = wait_for_port(log, started)
        house.open_house(folder / "demo")
        work(port)
        rest()
        processes = [psutil.Process(started.pid), *psutil.Process(started.pid).children(recursive=True)]
        for process in processes:
            told = process.memory_full_info()
            command = " ".join(process.cmdline()).replace(sys.executable, "").replace(str(ROOT), "")
            print(f"  {told.rss / MIB:6.1f} MiB resident, {told.pss / MIB:6.1f} MiB PSS  {command[:90]}")
        web = max(process.memory_info().rss for process in processes if "gunicorn" in " ".join(process.cmdline()))
        whole = sum(process.memory_full_info().pss for process in processes)
    finally:
        started.terminate()
        started.wait()
    return [
        ("a web process after a sign-in, a label and scores, MiB resident", web / MIB, MOST_WEB),
        (f"the demo's {len(processes)} processes, MiB PSS", whole / MIB, MOST_DEMO),
    ]


def wait_for_port(log: Path, started: "subprocess.Popen[bytes]") -> int:
    """Return the port on which the demo says that it is."""
    until = time.monotonic() + START
    while time.monotonic() < until and started.poll() is None:
        if found := re.search(r"runs at +http://127\.0\.0\.1:(\d+)/", log.read_text()):
            return int(found[1])
        time.sleep(0.2)
    raise SystemExit(f"The demo did not start:\n{log.read_text()}")


def work(port: int) -> None:
    """Sign in as an assessor and give a label of support; sign in as an organizer and open the scores."""
    from bench.judging import items
    from support.citations import LABELS
    from support.models import SupportSheet

    sheet = SupportSheet.objects.filter(task__person__username="anna", task__topic__isnull=False).first()
    assert sheet is not None
    assert sheet.task is not None
    item = items(sheet.task, scattered=False)[0]
    version = SupportSheet.objects.get(pk=item.sheet).version
    anna = Browser(port, sign_in(port, "anna"), f"/support/{sheet.task.pk}/")
    anna.answer(item.sheet)
    anna.write(item.sheet, "label", version, {"citation": item.key, "label": LABELS[0], "seconds": "3", **item.fields})
    Browser(port, sign_in(port, "olga"), "/campaigns/demo/scores/")


def sign_in(port: int, name: str) -> str:
    """Sign a person of the demo in by password; return the session's cookie."""
    cookies = CookieJar()
    browser = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(cookies))
    address = f"http://localhost:{port}/login/"
    browser.open(address).close()
    given = {cookie.name: str(cookie.value) for cookie in cookies}
    form = {"username": name, "password": "demo-password", "csrfmiddlewaretoken": given["csrftoken"]}
    browser.open(address, urlencode(form).encode()).close()
    return next(str(cookie.value) for cookie in cookies if cookie.name == "sessionid")


def rest() -> None:
    """Return when the workers have nothing left to do."""
    from assessor.llm.models import Job
    from metaeval.models import Calculation

    until = time.monotonic() + START
    while (
        Job.objects.filter(state__in=Job.ACTIVE).exists()
        or Calculation.objects.filter(state__in=Calculation.ACTIVE).exists()
    ):
        if time.monotonic() > until:
            raise SystemExit("The demo's workers don't end.")
        time.sleep(0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measurements = {"check": check, "demo": demo}
    parser.add_argument("--only", choices=list(measurements))
    only = parser.parse_args().only
    over = 0
    for name, measure in measurements.items():
        if only in (None, name):
            with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
                for what, figure, limit in measure(Path(folder)):
                    over += figure > limit
                    print(f"{what}: {figure:.1f} (limit {limit:g}){' OVER' if figure > limit else ''}", flush=True)
    raise SystemExit(over)


if __name__ == "__main__":
    main()
