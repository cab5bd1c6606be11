"""Drafts are decided one by one, in a real browser: what is left to do shows, and Finish waits for it."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import MARKS, Demo, OpenPage, saved
from tests.browser.editors import open_editor

pytestmark = MARKS


@pytest.fixture(scope="module")
def bank(demo: Demo) -> int:
    return int(demo.run("from tests.browser.world import load_drafts; load_drafts()").splitlines()[-1])


def texts(section: Locator) -> list[str]:
    found: list[str] = section.locator("textarea.text").evaluate_all("fields => fields.map(field => field.value)")
    return found


def focused(page: Page) -> str:
    """Return the text of the nugget that has the focus."""
    found: str = page.evaluate("document.activeElement.querySelector('textarea.text').value")
    return found


def test_drafts_are_decided_by_keyboard(open_page: OpenPage, demo: Demo, bank: int) -> None:
    page = open_page("anna")
    open_editor(page, bank)
    undecided, decided = page.locator("#undecided"), page.locator("#decided")
    count = page.locator("#decided-count")
    drafts = texts(undecided)
    assert (len(drafts), texts(decided)) == (8, [])
    expect(count).to_have_text("0 of 8 drafts decided")

    # Each decision goes on to the next draft.
    page.keyboard.press("l")
    page.keyboard.press("y")
    expect(decided.locator(".nugget")).to_have_count(1)
    assert (texts(decided), focused(page)) == (drafts[:1], drafts[1])
    page.keyboard.press("r")
    page.keyboard.press("Control+a")
    page.keyboard.type("In my words")
    page.keyboard.press("Enter")
    expect(decided.locator(".nugget")).to_have_count(2)
    assert (texts(decided), focused(page)) == ([drafts[0], "In my words"], drafts[2])
    page.keyboard.press("d")
    assert focused(page) == drafts[3]
    expect(count).to_have_text("3 of 8 drafts decided")
    for key in ("x", "j", "x", "m"):
        page.keyboard.press(key)
    page.keyboard.type("Two in one")
    page.keyboard.press("Enter")
    expect(decided.locator(".nugget")).to_have_count(3)
    assert (texts(decided), focused(page)) == ([drafts[0], "In my words", "Two in one"], drafts[5])
    expect(count).to_have_text("5 of 8 drafts decided")

    # An importance decides too, and the draft stays where it is as long as the person is at it.
    page.keyboard.press("v")
    expect(count).to_have_text("6 of 8 drafts decided")
    assert (focused(page), texts(undecided)) == (drafts[5], drafts[5:])
    page.keyboard.press("j")
    expect(undecided.locator(".nugget")).to_have_count(2)
    assert (focused(page), texts(undecided)) == (drafts[6], drafts[6:])
    page.keyboard.press("y")
    expect(count).to_have_text("7 of 8 drafts decided")
    saved(page)
    page.keyboard.press("Control+z")
    expect(count).to_have_text("6 of 8 drafts decided")
    assert (focused(page), texts(undecided)) == (drafts[6], drafts[6:])
    page.keyboard.press("t")
    page.keyboard.type("How they build")
    page.keyboard.press("Enter")
    saved(page)

    page.reload()
    page.wait_for_selector("#main[data-ready]")
    expect(count).to_have_text("6 of 8 drafts decided")
    expect(page.locator("#decided-bar")).to_have_js_property("value", 6)
    assert texts(undecided) == drafts[6:]
    assert texts(decided) == [drafts[0], "In my words", "Two in one", drafts[5]]
    expect(page.locator("#own-reading")).to_have_value("How they build")

    # Finish lists what is undecided, and can keep it all; importance is asked for nevertheless.
    page.keyboard.press("f")
    listed = page.locator("#still-undecided li")
    expect(listed).to_have_text([f"Nugget 5: {drafts[6]}", f"Nugget 6: {drafts[7]}"])
    page.get_by_role("button", name="Keep these 2").click()
    expect(count).to_have_text("8 of 8 drafts decided")
    expect(page.locator("#findings li")).to_have_count(5)
    expect(listed).to_have_count(0)
    left = page.locator("#nugget-list .nugget:not(:has(input:checked))")
    for count_left in range(5, 0, -1):
        expect(left).to_have_count(count_left)
        left.first.locator(".okay").click()
    saved(page)
    page.keyboard.press("f")
    page.wait_for_selector("#finish[open]")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Home')")
    with demo.database() as db:
        verbs = [verb for (verb,) in db.execute("select verb from nuggets_bankedit where bank_id = ?", [bank])]
    assert (verbs.count("keep"), verbs.count("undo"), verbs[-1]) == (4, 1, "finish")
