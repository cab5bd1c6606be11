"""A demo of the tests' own, started as `make demo` starts it, and a real browser on it.

Its database and static files are made once, by what `make demo` begins with, also for the installations beside it.
It is loaded once for all processes of tests, and started once in each of them. Every module finds it as it was loaded.
"""

import fcntl
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from assay.processes import prepare, without_settings
from tests.chromium import CHROMIUM
from tests.llm.house import wait_until
from tests.ports import take_block

ROOT = Path(__file__).resolve().parent.parent.parent
DEVICE_SCALE = float(os.environ.get("DEVICE_SCALE") or 1)  # pixels of the screen to one of a page
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No page lives long enough for optimized code to be worth its compilation.
    "--js-flags=--no-opt,--no-maglev",
    # One process for all pages of a profile: each would else begin in one and load in another.
    "--renderer-process-limit=1",
]
# Nobody looks at pages but for screenshots: they are laid out, and have no memory to be drawn in.
if not {"ASSAY_TOUR", "ASSAY_SHOTS"} & set(os.environ):
    FLAGS.append("--force-gpu-mem-available-mb=0")
PASSWORD = "demo-password"
# Work that a process of the demo may be at.
UNDER_WAY = " union all ".join(
    f"select 1 from {table} where state in ('waiting', 'running')"
    for table in ("campaigns_import", "llm_job", "exports_export", "metaeval_calculation")
)

# Of the demos of this process, of which one runs at a time.
FIRST_PORT = take_block()[0]
# For every module here.
MARKS = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; see tests/chromium.sh"),
]

# One process has installations of its own to make while another makes the first demo.
LONGEST = ["test_whole_study.py", "test_pages.py", "test_ways_in.py", "test_from_nothing.py", "test_automatic.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest."""
    items.sort(key=lambda item: [*LONGEST, item.path.name].index(item.path.name))


class Demo:
    """A running demo: its address, its data, and a way to kill and start it again."""

    def __init__(self, data: Path) -> None:
        """Start it; its folder of data is called demo, as the command has it."""
        self.data = data
        self.port = 0
        self.cookies = self.kept_cookies(data)
        self.shell: subprocess.Popen[str] | None = None
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def database(self) -> sqlite3.Connection:
        # Not read-only: after a kill, such a connection can't recover the write-ahead log and sees an old state.
        return sqlite3.connect(self.data / "assay.sqlite3", timeout=20)

    def bank(self, number: int) -> int:
        """Return the bank that somebody works on for topic demo-`number`; not the finished one of the reference."""
        with self.database() as db:
            [[found]] = db.execute(
                "select bank.id from nuggets_nuggetbank bank join work_task task on task.id = bank.task_id"
                " join campaigns_topic topic on topic.id = bank.topic_id where topic.qid = ?",
                [f"demo-{number}"],
            )
        return int(found)

    @staticmethod
    def kept_cookies(data: Path) -> dict[str, Any]:
        """Return the cookies of who has signed in, by name, as they were kept beside the database."""
        kept = data / "cookies.json"
        return json.loads(kept.read_text()) if kept.exists() else {}

    def sign_in(self, browser: Browser, *names: str) -> None:
        """Sign people in, and keep it for whatever begins as a copy of the data."""
        for name in names:
            with browser.new_context(base_url=self.address) as context:
                sign_in(context.new_page(), name)
                self.cookies[name] = context.cookies()
        (self.data / "cookies.json").write_text(json.dumps(self.cookies))

    def has_session(self, cookies: list[Any]) -> bool:
        """Say whether cookies are of somebody who is still signed in."""
        keys = [cookie["value"] for cookie in cookies if cookie["name"] == "sessionid"]
        with closing(self.database()) as db:
            return any(
                db.execute("select 1 from django_session where session_key = ?", [key]).fetchone() for key in keys
            )

    @property
    def _env(self) -> dict[str, str]:
        return environment(self.data)

    def manage(self, *words: str) -> str:
        """Run a command of manage.py; return what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words], cwd=ROOT, env=self._env, check=True, capture_output=True, text=True
        )
        return done.stdout

    def run(self, code: str) -> str:
        """Run code in a process of its own; return what it printed."""
        if not self.shell:
            command = [sys.executable, "-m", "tests.browser.shell"]
            pipe = subprocess.PIPE
            self.shell = subprocess.Popen(command, cwd=ROOT, env=self._env, stdin=pipe, stdout=pipe, text=True)
        assert self.shell.stdin
        assert self.shell.stdout
        print(json.dumps(code), file=self.shell.stdin, flush=True)
        printed = ""
        for line in self.shell.stdout:
            if line.startswith("\0"):
                assert line == "\x000\n", printed
                return printed
            printed += line
        raise AssertionError(printed)

    def start(self) -> None:
        # Loaded before it forks, the web process is there again at once when it has to forget what it kept.
        env = self._env | {"PORT": str(self.port or FIRST_PORT), "GUNICORN_CMD_ARGS": "--preload"}
        env["ASSAY_DATA_DIR"] = str(self.data.parent)
        log = self.data.parent / "demo.log"
        with log.open("w") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "assay", "demo"], cwd=ROOT, env=env, stdout=out, stderr=out
            )
        until = time.monotonic() + 400
        while "Ctrl-C ends it" not in log.read_text():
            assert self.process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        self.port = int(re.findall(r"demo runs at +http://127.0.0.1:(\d+)/", log.read_text())[0])
        [self.model_url] = re.findall(r"endpoint.*listens at +(http://\S+)", log.read_text())

    def kill(self) -> None:
        """SIGKILL everything: starter, web, worker."""
        parent = psutil.Process(self.process.pid)
        everybody = [parent, *parent.children(recursive=True)]
        for process in everybody:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()
        psutil.wait_procs(everybody, timeout=5)

    def stop(self) -> None:
        if self.shell:
            self.shell.communicate()
            self.shell = None
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=60)

    def comes_to_rest(self) -> bool:
        """Say whether all of it still runs and has nothing to do, or soon has not."""
        until = time.monotonic() + 8
        while self.process.poll() is None and time.monotonic() < until:
            if self.is_idle():
                return True
            time.sleep(0.1)
        return False

    def is_idle(self) -> bool:
        """Say whether all of it still runs and has nothing to do."""
        if self.process.poll() is not None or list((self.data / "broker").glob("*.msg")):
            return False
        with closing(self.database()) as db:
            return not db.execute(UNDER_WAY).fetchall()

    def copy_data(self, copy: Path) -> None:
        """Copy the data as they are now, once the demo is at rest."""
        wait_until(self.is_idle, "the demo is at rest", 400)  # what begins as a copy would else do the rest itself
        shutil.copytree(self.data, copy, ignore=shutil.ignore_patterns("assay.sqlite3*"), dirs_exist_ok=True)
        with closing(self.database()) as here, closing(sqlite3.connect(copy / "assay.sqlite3")) as there:
            here.backup(there)

    def begin_anew(self, copy: Path) -> None:
        """Put the database and the files back under the running processes; the web process forgets what it kept."""
        with closing(sqlite3.connect(copy / "assay.sqlite3")) as there, closing(self.database()) as here:
            there.backup(here)
            here.execute("update llm_modeljudge set base_url = ?", [self.model_url])
            here.commit()
        for folder in ("uploads", "exports"):
            shutil.rmtree(self.data / folder)
            shutil.copytree(copy / folder, self.data / folder)
        self.cookies = self.kept_cookies(copy)
        [web] = [each for each in psutil.Process(self.process.pid).children() if "gunicorn" in each.cmdline()]
        old = web.children()
        web.send_signal(signal.SIGHUP)
        psutil.wait_procs(old, timeout=60)
        urllib.request.urlopen(f"{self.address}/login/", timeout=60).close()


def environment(data: Path) -> dict[str, str]:
    """Return the environment of what runs on a folder of data."""
    return without_settings(os.environ) | {
        "ASSAY_DATA_DIR": str(data),
        "ASSAY_HTTPS": "0",
        "DJANGO_SETTINGS_MODULE": "tests.browser.settings",
    }


@contextmanager
def make_once(factory: pytest.TempPathFactory, name: str) -> Iterator[tuple[Path, bool]]:
    """Yield a folder of all processes of this run, and whether it is to be filled; the others wait meanwhile."""
    folder = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder, made = folder / name, folder / f"{name}.made"
    with (folder.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        is_new = not made.exists()
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        yield folder, is_new
        made.touch()


def copy_prepared(factory: pytest.TempPathFactory, data: Path) -> None:
    """Make a folder of data with an empty database and static files, which are prepared once for all processes."""
    with make_once(factory, "prepared") as (prepared, is_new):
        if is_new:
            prepare(prepared, environment(prepared))
    shutil.copytree(prepared, data)


@pytest.fixture(scope="session")
def demos() -> Iterator[list[Demo]]:
    """The demo that the last module used, if any."""
    demos: list[Demo] = []
    yield demos
    for demo in demos:
        demo.stop()


@pytest.fixture(scope="session")
def first_start(demos: list[Demo], browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a demo that was started for the first time, with everybody signed in: all others begin as copies."""
    with make_once(tmp_path_factory, "first") as (folder, is_new):
        if is_new:
            data = tmp_path_factory.mktemp("demo") / "demo"
            copy_prepared(tmp_path_factory, data)
            demos.append(Demo(data))
            demos[0].sign_in(browser, "anna", "ben", "olga", "admin")
            demos[0].copy_data(folder)
    return folder


@pytest.fixture(scope="module")
def demo(first_start: Path, demos: list[Demo], tmp_path_factory: pytest.TempPathFactory) -> Demo:
    if demos and demos[0].comes_to_rest():
        demos[0].begin_anew(first_start)
        return demos[0]
    while demos:
        demos.pop().stop()
    data = tmp_path_factory.mktemp("demo") / "demo"
    shutil.copytree(first_start, data)
    demos.append(Demo(data))
    return demos[0]


@pytest.fixture(scope="module")
def tasks(demo: Demo, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The addresses of work on the labelling screens, by kind; the demo has it then, given once for all processes."""
    from tests.browser.tasks import give_tasks  # it imports this module

    with make_once(tmp_path_factory, "tasks") as (folder, is_new):
        addresses = folder / "addresses.json"
        if is_new:
            addresses.write_text(json.dumps(give_tasks(demo, browser, tmp_path_factory.mktemp("files"))))
            demo.copy_data(folder)
    if not is_new:
        demo.begin_anew(folder)
    found: dict[str, dict[str, str]] = json.loads(addresses.read_text())
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        # Playwright's emulated screens ignore the browser's own flag.
        browser.new_context = partial(browser.new_context, device_scale_factor=DEVICE_SCALE)  # type: ignore[method-assign]
        yield browser
        browser.close()


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(demo: Demo, browser: Browser) -> Iterator[OpenPage]:
    """Open an empty page of a new browser profile, signed in; fails on script errors and foreign requests.

    Who has signed out since the demo was loaded signs in by keyboard; else profiles take over that session.

    A page whose requests a test is to lose, hold or answer intercepts them from its start: where interception begins
    with a page.route() of later, the browser may let the next request by (4 of 150, tried on a busy machine).
    """
    contexts = []
    wrong: list[str] = []

    def do(name: str | None = None, *, intercepts: bool = False, **options: object) -> Page:
        options = {"base_url": demo.address, "viewport": {"width": 1280, "height": 720}} | options
        context = browser.new_context(**options)
        contexts.append(context)
        if intercepts:
            context.route("**/nothing-asks-for-this", lambda route: route.abort())
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"script error: {error}"))
        page.on("console", lambda line: wrong.append(line.text) if "Content Security Policy" in line.text else None)
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith(str(options["base_url"])) else wrong.append(f"request: {request.url}")
            ),
        )
        if name and demo.has_session(demo.cookies.get(name, [])):
            context.add_cookies(demo.cookies[name])
        elif name:
            sign_in(page, name)
            demo.cookies[name] = context.cookies()
        return page

    yield do
    for context in contexts:
        context.close()
    assert wrong == []


def sign_in(page: Page, name: str) -> None:
    """Sign in with the keyboard alone."""
    page.goto("/login/")
    tab_to(page, "#id_username")
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    wait_until_signed_in(page)


def wait_until_signed_in(page: Page) -> None:
    """Wait until somebody is signed in, wherever that leads them."""
    page.wait_for_selector("form[action='/logout/']", state="attached")


def open_guidelines(page: Page, task: str) -> None:
    """Say that one has read the guidelines that stand before a task, if one has not yet, and go on to the work."""
    page.goto(task)
    if "/guidelines/" in page.url:
        page.click("button:text('Go on to the work')")
    page.wait_for_selector("#main[data-ready]")


def tab_to(page: Page, selector: str, *, most: int = 80) -> None:
    """Press Tab until the element has the focus."""
    for _ in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} can't be reached with {most} Tabs")


WORD = """(element, word) => {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), range = document.createRange();
  while (texts.nextNode()) {
    const at = texts.currentNode.data.indexOf(word);
    if (at === -1) continue;
    range.setStart(texts.currentNode, at);
    range.setEnd(texts.currentNode, at + word.length);
    const {x, y, width, height} = range.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  }
}"""


def double_click(text: Locator, word: str) -> None:
    """Double-click a word where it stands on the screen, in whatever font."""
    x, y = text.evaluate(WORD, word)
    text.page.mouse.dblclick(x, y)


def until(page: Page, is_so: Callable[[], object]) -> None:
    """Wait in small steps: Playwright's own wait for a function is what the pages' policy forbids."""
    for _ in range(500):
        if is_so():
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never came true; on screen is {page.locator('#main').inner_text()[:500]}")


def saved(page: Page) -> None:
    """Wait until the editor says that everything is saved."""
    page.wait_for_selector("#saved[data-state=saved]:text-is('Saved')")


def give(page: Page, condition: str, person: str, *topics: str, campaign: str = "demo", is_meant: bool = False) -> None:
    """As the organizer, give topics to a person. is_meant: besides blind work, which the page asks about."""
    page.goto(f"/campaigns/{campaign}/plan/")
    for topic in topics:
        page.get_by_label(f"Choose {topic}", exact=True).check()
    page.click("text=Give to…")
    page.get_by_label(condition, exact=True).check()
    # The hours that somebody has to come stand beside their name.
    page.select_option("#id_person", page.locator("#id_person option", has_text=f"{person}: ").get_attribute("value"))
    number = f"{len(topics)} topic{'s' * (len(topics) > 1)}"
    page.click(f"main button:has-text('Give {number}')")
    if is_meant:
        expect(page.locator("main li")).to_contain_text(f"{person} would work on {', '.join(topics)} blind")
        page.click("main button:has-text('Change')")
    told = re.compile(f"{person} has {number} under {condition}|Waiting under {condition}: {number}")
    expect(page.get_by_role("status").first).to_contain_text(told)


def work_of(page: Page, condition: str, person: str, topic: str, campaign: str = "demo") -> str:
    """Return the address of a person's work on a topic, by way of the plan."""
    page.goto(f"/campaigns/{campaign}/plan/")
    page.get_by_label("Condition", exact=True).select_option(label=condition)
    page.click("button:text-is('Filter')")
    page.click(f"a.slot[aria-label^='{topic}: {person}']")
    return str(page.get_by_role("link", name="Look at the work").get_attribute("href"))
