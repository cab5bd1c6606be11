"""Tries the wheel as somebody does who has nothing of the source tree: python -m tests.deploy.try_wheel

It is built by pip, and installed with its dependencies in a new environment. There, from a folder whose names mislead,
`assay demo` runs until somebody is signed in, `assay serve` too, on data of its own; last, the study of tests/golden is
played by the installed program, and its files must be the same.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode

import psutil

from assay.processes import without_settings
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
STARTS, ENDS = 400, 240  # seconds
PASSWORD = "a good long password of ours"


def told(what: str) -> None:
    print(f"{time.monotonic() - _begun:7.1f} s  {what}", flush=True)


_begun = time.monotonic()


class Trial:
    """An environment with the wheel in it, and a folder to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home, self.bin = folder, folder / "home", folder / "venv" / "bin"
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        for name in ("support", "demo", "assessor"):
            (self.elsewhere / name).mkdir()
        (self.elsewhere / "nuggets.py").write_text("raise SystemExit('taken from the current folder')\n")
        self.env = without_settings(os.environ) | {"XDG_DATA_HOME": str(self.home)}
        self.env.pop("PYTHONPATH", None)

    def install(self) -> None:
        subprocess.run([sys.executable, "-m", "venv", str(self.folder / "venv")], check=True)
        pip = [str(self.bin / "python"), "-m", "pip", "--quiet"]
        subprocess.run([*pip, "wheel", "--no-deps", "-w", str(self.folder), str(ROOT)], check=True)
        [wheel] = self.folder.glob("*.whl")
        told(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        subprocess.run([*pip, "install", str(wheel)], check=True)
        told("installed, with its dependencies")

    def run(self, *words: str, **settings: str) -> None:
        command = [str(self.bin / "assay"), *words]
        subprocess.run(command, cwd=self.elsewhere, env=self.env | settings, check=True)

    @contextmanager
    def running(self, ending: signal.Signals, *words: str, **settings: str) -> Iterator[Path]:
        """Run a command until the block ends; yield its log. All that it started must end with it."""
        log = self.folder / f"{words[0]}.log"
        with log.open("w") as out:
            command = [str(self.bin / "assay"), *words]
            process = subprocess.Popen(command, cwd=self.elsewhere, env=self.env | settings, stdout=out, stderr=out)
        everybody: list[psutil.Process] = []
        try:
            yield log
            everybody = psutil.Process(process.pid).children(recursive=True)
            assert len(everybody) > 4, everybody
        except BaseException:
            print(log.read_text()[-5000:])
            raise
        finally:
            process.send_signal(ending)
            process.wait(ENDS)
        _, left = psutil.wait_procs(everybody, timeout=5)
        assert not left, left
        told(f"assay {words[0]} has ended, with all {len(everybody)} processes that it started")


def sign_in(address: str, name: str, password: str) -> str:
    """Sign somebody in as a browser does, once the page answers; return the page that follows."""
    browser = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
    )
    until = time.monotonic() + STARTS
    while True:
        try:
            page = browser.open(f"{address}/login/", timeout=60).read().decode()
            break
        except OSError:
            assert time.monotonic() < until, f"{address} does not answer."
            time.sleep(0.5)
    for style in re.findall(r'href="(/static/[^"]+\.css)"', page):
        browser.open(address + style, timeout=60).close()
    [token] = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[:1]
    fields = {"csrfmiddlewaretoken": token, "username": name, "password": password}
    return str(browser.open(f"{address}/login/", urlencode(fields).encode(), timeout=60).read().decode())


def try_demo(trial: Trial) -> None:
    port = free_port()
    # What is set up for an installation is none of the demo's business.
    with trial.running(signal.SIGINT, "demo", PORT=str(port), ASSAY_HOSTS="assay.example.org") as log:
        page = sign_in(f"http://127.0.0.1:{port}", "anna", "demo-password")
        assert "<h1>Home</h1>" in page, page
        assert f"http://127.0.0.1:{port}/" in log.read_text()
        assert (trial.home / "assay" / "demo" / "assay.sqlite3").exists()
        told("assay demo: anna is signed in")


def try_server(trial: Trial) -> None:
    port = free_port()
    settings = {"ASSAY_HTTPS": "off", "ASSAY_BIND": f"127.0.0.1:{port}", "DJANGO_SUPERUSER_PASSWORD": PASSWORD}
    trial.run("migrate", "--verbosity=0", **settings)
    trial.run("createsuperuser", "--noinput", "--username=root", "--email=root@example.org", **settings)
    with trial.running(signal.SIGTERM, "serve", **settings) as log:
        page = sign_in(f"http://127.0.0.1:{port}", "root", PASSWORD)
        assert "<h1>Home</h1>" in page, page
        until = time.monotonic() + STARTS
        while log.read_text().count("[queues]") < 2 or "beat-schedule" not in log.read_text():
            assert time.monotonic() < until, "The workers and beat are not there."
            time.sleep(0.5)
        assert (trial.home / "assay" / "assay.sqlite3").exists()
        told("assay serve: the administrator is signed in, workers and beat are there")


def play_study(trial: Trial) -> None:
    """Play it with the tests beside the installed program, and nothing else of the source tree."""
    [clock] = re.findall(r"^time-machine==\S+", (ROOT / "requirements-dev.txt").read_text(), re.MULTILINE)
    subprocess.run([str(trial.bin / "python"), "-m", "pip", "--quiet", "install", clock], check=True)
    beside = trial.folder / "beside"
    shutil.copytree(ROOT / "tests", beside / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    command = [str(trial.bin / "python"), "-m", "tests.golden", str(trial.folder / "files")]
    subprocess.run(command, cwd=beside, env=trial.env, check=True)
    told(f"the study gives the same {len(list((trial.folder / 'files').iterdir()))} files")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="assay-wheel-") as folder:
        trial = Trial(Path(folder))
        trial.install()
        try_demo(trial)
        try_server(trial)
        play_study(trial)


if __name__ == "__main__":
    main()
