"""How long a key press takes to its change on screen, in the editor with 200 passages and 60 nuggets.

    python bench/editor.py

A real server and a real Chromium (tests/chromium.sh installs one). What is measured is the browser's own Event
Timing: from the key to the next frame that is painted; it counts in steps of 8 ms, and keys that take less than 16 ms
are not told one by one, so they stand as 16 here.
"""

import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench import house, track
from tests.chromium import CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Page

LIMIT = 50  # milliseconds, at the 95th percentile
LEAST = 16
SCALE = 0.005  # of a track: the editor shows one topic, whatever else is loaded
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
OBSERVE = """() => {
  window.keys = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === "keydown") window.keys.push(entry.duration);
  }).observe({ type: "event", durationThreshold: 16 });
}"""
# What is done in a row, and the keys for it.
WORK = {
    "through the list": ["l"] + ["j"] * 30 + ["k"] * 20,
    "vital or okay": ["v", "o"] * 10,
    "move a nugget": ["Alt+ArrowDown"] * 5 + ["Alt+ArrowUp"] * 5,
    "type in a nugget": ["r", *"more words of it", "Enter"],
    "through passages": ["p"] * 20 + ["i"] * 5,
    "select sentences": ["j"] * 4 + ["k"] * 2 + ["Shift+J"] * 3,
    "attach evidence": ["j", "e", "w"],
    "search": ["/", *"word and more", "Enter", "Enter", "Enter", "Escape"],
    "new nugget": ["n", *"a new one is typed here", "Enter", "Escape"],
    "merge and split": ["x", "k", "x", "m", "Escape", "s", "Escape"],
    "undo and redo": ["Control+z"] * 5 + ["Control+Shift+z"] * 5,
}


def press(page: "Page", keys: list[str]) -> list[float]:
    """Press keys one by one, at a fast typist's pace, and return how many milliseconds each took."""
    page.evaluate("window.keys.length = 0")
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(60)
    page.wait_for_timeout(300)
    told = page.evaluate("window.keys")
    return told + [float(LEAST)] * max(0, len(keys) - len(told))


def measure(page: "Page") -> int:
    """Print a line for each kind of work; return how many are over the limit."""
    over = 0
    every: list[float] = []
    print(f"{'keys':20} {'n':>4} {'p50 ms':>7} {'p95 ms':>7} {'max ms':>7}  limit {LIMIT}")
    for name, keys in WORK.items():
        took = press(page, keys)
        every += took
        is_over = house.percentile(took, 95) > LIMIT
        over += is_over
        figures = f"{len(took):4} {statistics.median(took):7.0f} {house.percentile(took, 95):7.0f} {max(took):7.0f}"
        print(f"{name:20} {figures}  {'OVER' if is_over else 'ok'}")
    p50, p95 = statistics.median(every), house.percentile(every, 95)
    print(f"{'all':20} {len(every):4} {p50:7.0f} {p95:7.0f} {max(every):7.0f}")
    return over


def main() -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        house.open_house(folder)
        house.collect_static_files()
        campaign = house.new_campaign()
        for part in track.write(folder / "track", SCALE):
            house.load(campaign, part)
        bank = house.work(house.plan(campaign))
        cookie = house.session(bank.maker.person)
        with house.serve() as port, sync_playwright() as playwright:
            address = f"http://localhost:{port}"
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 720})
            context.add_cookies([{"name": "sessionid", "value": cookie, "url": address}])
            page = context.new_page()
            page.goto(f"/nuggets/{bank.pk}/")
            page.wait_for_selector("#main[data-ready]")
            shown = [page.locator(selector).count() for selector in (".passage", ".nugget")]
            print(f"{shown[0]} passages, {shown[1]} nuggets")
            page.evaluate(OBSERVE)
            over = measure(page)
            page.wait_for_selector("#saved[data-state=saved]")
            browser.close()
        raise SystemExit(over)


if __name__ == "__main__":
    main()
