"""From an empty database to a launched job and work that is given, with the demo's files: every click counts.

A click is anything that a hand does but typing: a press of a button or link, a choice from a list, a checked box, a
system's dialog of files. Steps that lead somewhere are clicked, not addressed, so that nothing is found by heart.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import MARKS, ROOT
from tests.browser.installation import ADMIN, PASSWORD, Installation
from tests.ports import take_block

pytestmark = MARKS
DEMO = ROOT / "demo"
MOST_CLICKS = 31  # 45 was the target; who makes a form shorter lowers it
FILES = [
    *("topics.tsv", "segments.jsonl", "qrels.people.txt", "runs.csv", "nuggets.people.jsonl"),
    *("assignments.people.jsonl", "support.people.jsonl", "runs/*.jsonl", "retrieval/*.txt"),
]


class Hand:
    """Does what a person does on a page, and counts it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, selector: str) -> None:
        self.clicks += 1
        self.page.locator(selector).first.click()

    def fill(self, selector: str, text: str) -> None:
        self.clicks += 1  # into the field
        self.page.locator(selector).first.fill(text)

    def choose(self, selector: str, option: str) -> None:
        self.clicks += 1
        self.page.locator(selector).first.select_option(option)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with Installation(tmp_path_factory, take_block()[0]) as installation:
        yield installation


def test_from_nothing_to_given_work_and_a_launched_job(installation: Installation, browser: Browser) -> None:
    page = browser.new_context(base_url=installation.address, viewport={"width": 1440, "height": 900}).new_page()
    page.goto("/login/")
    page.fill("#id_username", ADMIN)
    page.fill("#id_password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#nav")
    hand = Hand(page)

    hand.click("main >> text=New campaign")
    hand.fill("#id_name", "RAG pilot")
    hand.click("main button.go")
    expect(page.locator("h1")).to_have_text("Set up RAG pilot")

    # All files at once, in one dialog. Who made grades, nuggets and labels is what the names of the files suggest.
    files = [file for names in FILES for file in sorted(DEMO.glob(names))]
    hand.clicks += 2  # the button, and the dialog's own
    page.set_input_files("#id_uploads", files)
    expect(page.locator("#held li")).to_have_count(4)
    expect(page.locator("#held [id$=-nuggets]")).to_have_value("Nuggets people")
    hand.click("#held button.go")
    expect(page.locator("#imports .chip.ok")).to_have_count(len(files), timeout=90_000)
    expect(page.locator("#steps .now h3")).to_have_text("Choose the study")

    # The study's conditions; then a person and a model.
    hand.click("#step-study button")
    expect(page.locator("#steps .now h3")).to_have_text("Invite people, connect a model")
    hand.click("#step-people a.button:has-text('Connect a model')")
    hand.fill("#id_name", "rehearsal")
    hand.fill("#id_model", "rehearsal")
    hand.fill("#id_base_url", installation.model_url)
    hand.click("main form button")
    hand.click("#nav a:has-text('People')")
    hand.fill("#id_name", "anna")
    hand.choose("#id_role", "assessor")
    hand.click("button:text-is('Invite')")

    # What lacked a judge is made now.
    hand.click("#nav a:has-text('Set up')")
    hand.click("#step-study button")
    expect(page.locator("#step-study tr:has-text('Support post-edited') .chip.ok")).to_be_visible()

    hand.click("main a.button:has-text('Give topics to people')")
    hand.click("[aria-label='Choose demo-1']")
    hand.click("text=Give to…")
    hand.click("label:has-text('ManualNuggets') input")
    hand.choose("#id_person", page.locator("#id_person option", has_text="anna: ").get_attribute("value") or "")
    hand.click("main button:has-text('Give 1 topic')")
    expect(page.get_by_role("status").first).to_contain_text("1 topic under ManualNuggets")

    hand.click("#nav >> text=Jobs")
    hand.click("main a[href$='jobs/new/']")
    hand.click("main a:has-text('Draft nuggets to edit')")
    hand.click("button[name=launch]")
    expect(page.locator("#progress [role=status], main h1 .chip").first).to_have_text(
        re.compile("[Dd]one"), timeout=90_000
    )
    assert hand.clicks <= MOST_CLICKS
