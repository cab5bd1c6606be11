"""What labelling screens and organizers' pages weigh, how soon one can label, and how soon a server answers.

    python -m bench.weight [--keep FOLDER] [--times 5]

A real server and a real Chromium (tests/chromium.sh installs one), whose protocol tells sizes as they came over the
wire, headers included, and slows the line down. Each time is of a new browser profile with nothing in its cache: from
the start of the navigation to the first frame in which a label can be given. The exit code says how many figures are
over their limits.
"""

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import house, scores, track
from bench.editor import FLAGS
from tests.chromium import CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

    from assessor.accounts.models import Person
    from assessor.campaigns.models import Campaign, Condition

ASSESSOR = "assessor"
DESK, DESK_REQUESTS = 90, 14  # kB in all and requests of an organizer's page, charts aside
SCALE = 0.005  # of a track: a screen shows one topic, whatever else is loaded
CODE, REQUESTS, COLD, SLOW, STOPS, START = 100, 12, 400, 1500, 3, 2.0  # kB, number, ms, ms, Tab stops, s
LINE = {"downloadThroughput": 1.5e6 / 8, "uploadThroughput": 1.5e6 / 8, "latency": 40, "offline": False}
NARROW = 320
# Notes when the first thing that labels is on screen and can be used, and was painted.
WATCH = """
(() => {
  const look = () => {
    const found = document.querySelector(SELECTOR);
    if (!found || found.disabled || !found.checkVisibility()) return requestAnimationFrame(look);
    requestAnimationFrame(() => (window.assayUsable = performance.now()));
  };
  requestAnimationFrame(look);
})();
"""


class Screen(NamedTuple):
    """A labelling screen. control: what gives a label; keys: pressed from the freshly opened page to give one."""

    name: str
    path: str
    control: str
    keys: tuple[str, ...]
    given: str  # matches once the label was given


class Weight(NamedTuple):
    """What came over the wire: kB of CSS and JavaScript, of the page itself and of all else, and requests."""

    code: float
    page: float
    rest: float
    requests: int


# ---- the screens ----


def prepare(folder: Path) -> None:
    """Fill an empty database with a small track, and give a person a topic of each kind."""
    from assessor.relevance.actions import create_relevance
    from assignment.actions import create_manual_assign
    from nuggets.actions import create_manual_nuggets
    from support.actions import create_support

    campaign = house.new_campaign()
    for part in track.write(folder / "track", SCALE):
        house.load(campaign, part)
    scores.add_items(campaign, folder)
    _rank(campaign, folder / "rankings")
    person = house.person(ASSESSOR, "assessor")
    people = campaign.qrels_sources.get(name=track.PEOPLE)
    nuggets = campaign.conditions.get(name=scores.NUGGETS.name)
    _give(create_manual_nuggets(campaign=campaign, name="M", qrels_source=people, acting_user=None), person)
    _give(create_manual_assign(nuggets=nuggets, name="A", acting_user=None), person)
    _give(create_support(campaign=campaign, name="S", shown=None, acting_user=None), person)
    _give(create_relevance(campaign=campaign, name="R", shown=None, from_queue=False, acting_user=None), person)
    _add_nuggets()


def _rank(campaign: "Campaign", path: Path) -> None:
    docids = campaign.segments.values_list("docid", flat=True)[:20]
    lines = [f"{track.qid(1)} Q0 {docid} {place} {-place} bm25\n" for place, docid in enumerate(docids, 1)]
    path.write_text("".join(lines))
    house.load(campaign, track.Part("retrieval", path, {}, 0))


def _give(condition: "Condition", person: "Person") -> None:
    from assessor.work.actions import give_tasks

    campaign = condition.campaign
    house.open_guidelines(campaign, condition.kind, person)
    # The first topic has the most passages (track.RELEVANT), the last one as many as most topics. Who writes nuggets of
    # a topic does not grade it.
    first, second, *_, last = campaign.topics.order_by("qid")
    given = {"nuggets": [first, last], "relevance": [second]}.get(condition.kind, [first])
    give_tasks(campaign=campaign, topics=given, condition=condition, person=person, acting_user=None)


def _add_nuggets() -> None:
    """Let each open bank have ten nuggets that lack an importance."""
    from assessor.work.write_protocol import Sent, once
    from nuggets.actions import add_nugget
    from nuggets.models import NuggetBank

    for bank in NuggetBank.objects.filter(task__isnull=False):
        task = bank.task
        assert task is not None
        for number in range(10):
            bank.refresh_from_db()
            write = Sent(uuid.uuid4(), bank.version, "")
            fields = {"uid": uuid.uuid4(), "text": f"a fact of some words, the one with number {number}"}
            add = partial(add_nugget, bank, evidence=None, acting_user=task.person, seen=bank.version, **fields)
            once(task, write, add)


def screens() -> Iterator[Screen]:
    """Yield the screens on the person's tasks."""
    from assessor.campaigns.condition_kind import kind_of, related_records
    from assessor.work.models import Task

    choice = "[data-label]:not([disabled])"
    pressed = '[data-label][aria-pressed="true"]'
    looks = {
        "nuggets": (".nugget input[type=radio]", ("j", "v"), ".nugget input[value=vital]:checked"),
        "assignment": (choice, ("1",), pressed),
        "support": (choice, ("1",), '.sentences .told:text("full")'),
        "relevance": (".choices button:not([disabled])", ("2",), '#progress:text-matches("^[1-9]")'),
    }
    tasks = Task.objects.select_related("condition", "topic", *related_records()).order_by("pk")
    for task in tasks:
        control, keys, given = looks[task.kind]
        passages = " (most)" if task.kind == "nuggets" and task.topic.qid == track.qid(0) else ""
        yield Screen(task.kind + passages, kind_of(task).url(task), control, keys, given)


def desk_pages() -> Iterator[tuple[str, str]]:
    """Yield name and path of the pages of an organizer's sidebar, and of one topic, run, condition and new job."""
    from django.urls import reverse

    from assessor.campaigns.models import Campaign
    from assessor.desk.navigation import GROUPS

    campaign = Campaign.objects.get()
    for group in GROUPS:
        for item in group.items:
            yield item.label, reverse(item.name, args=[campaign.slug])
    for name, records in [("topic", campaign.topics), ("run", campaign.runs), ("condition", campaign.conditions)]:
        yield name, reverse(name, args=[campaign.slug, records.order_by("pk").values_list("pk", flat=True)[0]])
    yield "new job", reverse("launch_job", args=[campaign.slug])


# ---- measuring ----


@contextmanager
def fresh(browser: "Browser", address: str, cookie: str, **options: Any) -> "Iterator[Page]":
    """Open a new profile, signed in, with nothing in its cache."""
    context: BrowserContext = browser.new_context(base_url=address, **options)
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": address}])
    page = context.new_page()
    yield page
    context.close()


def weigh(page: "Page", path: str, ready: str) -> Weight:
    """Open a page and tell what came over the wire until it was quiet. ready: matches once it can be used."""
    session: CDPSession = page.context.new_cdp_session(page)
    session.send("Network.enable")
    kinds: dict[str, str] = {}
    sizes: dict[str, float] = {}
    session.on("Network.requestWillBeSent", lambda told: kinds.setdefault(told["requestId"], told.get("type", "")))
    session.on("Network.loadingFinished", lambda told: sizes.__setitem__(told["requestId"], told["encodedDataLength"]))
    page.goto(path)
    page.wait_for_selector(ready)
    page.wait_for_load_state("networkidle")

    def kilobytes(*wanted: str) -> float:
        return sum(size for request, size in sizes.items() if kinds.get(request) in wanted) / 1000

    rest = set(kinds.values()) - {"Script", "Stylesheet", "Document"}
    return Weight(kilobytes("Script", "Stylesheet"), kilobytes("Document"), kilobytes(*rest), len(kinds))


def usable_after(page: "Page", screen: Screen, line: dict[str, Any] | None) -> float:
    """Return the milliseconds from the start of the navigation until a label could be given."""
    if line:
        session: CDPSession = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", line)
    page.add_init_script(WATCH.replace("SELECTOR", json.dumps(screen.control)))
    page.goto(screen.path)
    page.wait_for_selector("#main[data-ready]")
    page.wait_for_load_state("networkidle")
    return float(page.evaluate("window.assayUsable"))


def stops(page: "Page", screen: Screen) -> int:
    """Give the first label with the keyboard; return how many keys that took before the one that labels."""
    page.goto(screen.path)
    page.wait_for_selector("#main[data-ready]")
    page.wait_for_selector(screen.control)
    for key in screen.keys:
        page.keyboard.press(key)
    page.wait_for_selector(screen.given, state="attached")
    page.wait_for_selector("#saved[data-state=saved]")
    return len(screen.keys) - 1


def findings(page: "Page", screen: Screen) -> list[str]:
    """Return all that axe finds."""
    from axe_playwright_python.sync_playwright import Axe

    page.goto(screen.path)
    page.wait_for_selector("#main[data-ready]")
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in Axe().run(page).response["violations"]]


def start() -> float:
    """Start a server and return the seconds until it answered the first page."""
    import socket

    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "assessor.wsgi", "--bind", f"localhost:{port}"]
    command += ["--worker-class", "gthread", "--threads", "8", "--log-level", "warning"]
    began = time.perf_counter()
    with house.log_file() as log:
        server = subprocess.Popen(command, stderr=log)
    try:
        while True:
            try:
                urllib.request.urlopen(f"http://localhost:{port}/login/", timeout=20).read()
                return time.perf_counter() - began
            except OSError:
                time.sleep(0.01)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def told(what: str, figure: float, limit: float, unit: str) -> int:
    """Print a figure beside its limit; return whether it is over."""
    is_over = figure > limit
    print(f"  {what:46} {figure:8.1f} {unit:10} limit {limit:g}{'  OVER' if is_over else ''}", flush=True)
    return int(is_over)


def measure(browser: "Browser", address: str, cookie: str, screen: Screen, times: int) -> int:
    """Print what there is to tell of a screen; return how many figures are over their limits."""
    print(screen.name)
    with fresh(browser, address, cookie) as page:
        weight = weigh(page, screen.path, "#main[data-ready]")
    over = told("compressed CSS and JavaScript", weight.code, CODE, "kB")
    over += told("requests", weight.requests, REQUESTS, "")
    print(f"  {'the page itself':46} {weight.page:8.1f} kB")
    for what, line, limit in (("label, cold, loopback", None, COLD), ("label, cold, 1.5 Mbit/s and 40 ms", LINE, SLOW)):
        took = []
        for _ in range(times):
            with fresh(browser, address, cookie) as page:
                took.append(usable_after(page, screen, line))
        over += told(what, statistics.median(took), limit, "ms")
    with fresh(browser, address, cookie, viewport={"width": NARROW, "height": 720}) as page:
        page.goto(screen.path)
        page.wait_for_selector("#main[data-ready]")
        over += told(f"width at {NARROW} px", page.evaluate("document.documentElement.scrollWidth"), NARROW, "px")
    for scheme in ("light", "dark"):
        with fresh(browser, address, cookie, color_scheme=scheme, bypass_csp=True) as page:
            found = findings(page, screen)
        over += told(f"axe, {scheme}", len(found), 0, "findings")
        for each in found:
            print("    ", each[:200])
    with fresh(browser, address, cookie) as page:
        over += told("keys before the one that labels", stops(page, screen), STOPS, "")
    return over


def measure_desk(browser: "Browser", address: str, cookie: str, pages: list[tuple[str, str]]) -> int:
    """Print what pages of the organizer weigh in all, by name; return how many figures are over their limits."""
    over = 0
    for name, path in pages:
        with fresh(browser, address, cookie) as page:
            weight = weigh(page, path, "#nav")
        over += told(f"{name}, in all", weight.code + weight.page + weight.rest, DESK, "kB")
        over += told(f"{name}, requests", weight.requests, DESK_REQUESTS, "")
    return over


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="A folder for the database and static files, to be used again.")
    parser.add_argument("--times", type=int, default=5, help="How often each time is taken; its median is told.")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = chosen.keep or Path(name)
        if house.open_house(folder):
            house.collect_static_files()
            prepare(folder)
        from assessor.accounts.models import Person

        cookie = house.session(Person.objects.get(username=ASSESSOR))
        organizer = house.session(Person.objects.get(username=f"organizer-{house.SLUG}"))
        all_screens, pages, over = list(screens()), list(desk_pages()), 0
        with house.serve() as port, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            over += measure_desk(browser, f"http://localhost:{port}", organizer, pages)
            for screen in all_screens:
                over += measure(browser, f"http://localhost:{port}", cookie, screen, chosen.times)
            browser.close()
        # The server before has read from disk what they need.
        over += told("warm start to the first page", statistics.median(start() for _ in range(3)), START, "s")
        raise SystemExit(over)


if __name__ == "__main__":
    main()
