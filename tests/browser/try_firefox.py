"""python -m tests.browser.try_firefox [FOLDER]: sign in and label by keyboard on the four screens, in Debian's Firefox.

Mozilla's own client drives it, because Playwright drives only a Firefox that it has built. Each label must stand in the
database, and Firefox must have found no fault in a script, a style or the policy. FOLDER: for screenshots, light and
dark. Exits with 1 where something was wrong.
"""

import base64
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from marionette_driver import By
from marionette_driver.marionette import Marionette
from playwright.sync_api import sync_playwright

from tests.browser import test_assignment, test_relevance, test_support
from tests.browser.conftest import FLAGS, PASSWORD, Demo
from tests.browser.tasks import FACTS, give_tasks
from tests.chromium import CHROMIUM

FIREFOX = "/usr/bin/firefox-esr"
SECONDS = 30
SAVED = "#saved[data-state=saved]"
NUGGET = "Firefox writes nuggets, too"
# What Firefox says of our pages: errors of scripts, and what the policy has stopped.
ERRORS = """
return Services.console.getMessageArray()
    .filter((line) => line instanceof Ci.nsIScriptError && line.sourceName.startsWith(arguments[0]))
    .filter((line) => !(line.flags & Ci.nsIScriptError.warningFlag) || line.category.includes("CSP"))
    .map((line) => line.message);
"""
SCHEMES = {"dark": 0, "light": 1}


class Firefox:
    """A Firefox without a window, and the demo that it visits."""

    def __init__(self, demo: Demo) -> None:
        self.demo = demo
        log = str(demo.data.parent / "firefox.log")
        self.client = Marionette(bin=FIREFOX, headless=True, port=0, gecko_log=log)
        self.client.start_session()
        self.client.set_window_rect(width=1280, height=800)

    def open(self, path: str, selector: str = "#main[data-ready]") -> None:
        self.client.navigate(self.demo.address + path)
        self.wait(lambda: self.client.find_elements(By.CSS_SELECTOR, selector), selector)

    def press(self, keys: str) -> None:
        for key in keys:
            self.client.actions.sequence("key", "keyboard").key_down(key).key_up(key).perform()

    def wait(self, is_so: Callable[[], Any], what: str) -> None:
        until = time.monotonic() + SECONDS
        while not is_so():
            if time.monotonic() > until:
                raise SystemExit(f"WRONG: never came true: {what}")
            time.sleep(0.05)

    def sign_in(self, name: str) -> None:
        self.open("/login/", "#id_username")
        self.client.find_element(By.ID, "id_username").click()
        self.press(f"{name}\ue004{PASSWORD}\ue007")  # Tab, Enter
        self.wait(lambda: self.client.find_elements(By.CSS_SELECTOR, "form[action='/logout/']"), f"{name} is in")

    def take_screenshots(self, folder: Path, name: str) -> None:
        for scheme, value in SCHEMES.items():
            with self.client.using_prefs({"layout.css.prefers-color-scheme.content-override": value}):
                script = f"return matchMedia('(prefers-color-scheme: {scheme})').matches"
                self.wait(lambda: self.client.execute_script(script), f"the page is {scheme}")  # noqa: B023
                picture = self.client.screenshot(full=False)
            (folder / f"firefox-{name}-{scheme}.png").write_bytes(base64.b64decode(picture))

    def errors(self) -> list[str]:
        with self.client.using_context("chrome"):
            found: list[str] = self.client.execute_script(ERRORS, [self.demo.address])
        return found


def prepare(demo: Demo, folder: Path) -> dict[str, dict[str, str]]:
    """Give the work of all screens; return the addresses."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        demo.sign_in(browser, "anna", "ben", "olga")
        return give_tasks(demo, browser, folder)


def judge_support(firefox: Firefox, address: str) -> Callable[[], bool]:
    demo = firefox.demo
    firefox.open(address, ".passage:not([hidden])")
    with demo.database() as db:
        query = "select id from support_supportsheet where task_id = ?"
        sheets = [key for [key] in db.execute(query, [test_support.task(address)])]
    firefox.press("1")
    return lambda: [of for key in sheets for of in test_support.stands(demo, key).values()] == ["full"]


def assign(firefox: Firefox, address: str) -> Callable[[], bool]:
    firefox.open(address, ".answer:not([hidden])")
    [answer] = firefox.client.find_elements(By.CSS_SELECTOR, ".answer:not([hidden])")
    key = int(answer.get_attribute("data-sheet"))
    firefox.press("132")
    meant = dict(zip(FACTS, ("support", "not_support", "partial_support"), strict=False))
    return lambda: test_assignment.stands(firefox.demo, key) == meant


def grade(firefox: Firefox, address: str) -> Callable[[], bool]:
    firefox.open(address, ".passage:not([hidden])")
    [docid] = firefox.client.find_elements(By.CSS_SELECTOR, ".passage:not([hidden]) p:last-child")
    meant = [(docid.text, 3)]  # the order is drawn
    firefox.press("3")
    return lambda: test_relevance.said(firefox.demo, address) == meant


def edit(firefox: Firefox, address: str) -> Callable[[], bool]:
    firefox.open(address)
    firefox.press(f"n{NUGGET}\ue007")
    texts = "select count(*) from nuggets_nugget where text = ?"

    def stands() -> bool:
        with firefox.demo.database() as db:
            return bool(db.execute(texts, [NUGGET]).fetchone()[0])

    return stands


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="assay-firefox-") as name:
        data = Path(name) / "demo"
        demo = Demo(data)
        try:
            tasks = prepare(demo, Path(name))
            firefox = Firefox(demo)
            print(f"Firefox {firefox.client.session_capabilities['browserVersion']}")
            firefox.sign_in("anna")
            for screen, label, address in [
                ("support", judge_support, tasks["support"]["anna"]),
                ("assignment", assign, tasks["assignment"]["anna"]),
                ("relevance", grade, tasks["relevance"]["Scratch"]),
                ("nuggets", edit, f"/nuggets/{demo.bank(2)}/"),
            ]:
                firefox.wait(label(firefox, address), f"what was pressed on {address} stands in the database")
                firefox.wait(lambda: firefox.client.find_elements(By.CSS_SELECTOR, SAVED), "the page says Saved")
                print(f"{screen}: labelled by keyboard, stored")
                for folder in sys.argv[1:]:
                    firefox.take_screenshots(Path(folder), screen)
            errors = firefox.errors()
            firefox.client.quit()
        finally:
            demo.stop()
    raise SystemExit("\n".join(errors) or 0)


if __name__ == "__main__":
    main()
