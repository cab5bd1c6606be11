"""A report is put together and signed in a real browser: by keyboard, by mouse, and without a connection."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import against_rules
from tests.browser.conftest import MARKS, Demo, OpenPage, saved
from tests.browser.editors import press, write
from tests.browser.test_pages import badly_named

pytestmark = MARKS


@pytest.fixture(scope="module")
def report(demo: Demo) -> int:
    return int(demo.run("from tests.browser.world import give_report; give_report()").splitlines()[-1])


def open_report(page: Page, report: int) -> None:
    page.goto(f"/reports/{report}/")
    page.wait_for_selector("#main[data-ready]")


def current(page: Page) -> Locator:
    return page.locator(".candidate[aria-current] .text")


def sentences(page: Page) -> list[str]:
    return page.locator("#report li p:first-child").all_inner_texts()


def test_a_report_is_edited_by_keyboard_and_by_mouse(open_page: OpenPage, report: int) -> None:
    page = open_page("anna", viewport={"width": 1440, "height": 900})
    open_report(page, report)
    found = page.locator(".candidate .text").all_inner_texts()
    assert len(found) > 5
    expect(current(page)).to_have_text(found[0])

    # Each decision goes on to the next sentence that is not decided.
    press(page, "y")
    expect(current(page)).to_have_text(found[1])
    press(page, "n", "j", "k", "y")
    assert sentences(page) == [found[0], found[2]]
    expect(page.locator("#decided")).to_have_text(f"3 of {len(found)} decided")
    expect(page.locator("#length")).to_have_text(str(len(found[0]) + len(found[2])))

    # Reworded, moved and written; the model's stays in sight.
    press(page, "k", "e")
    expect(page.locator("#write-original")).to_have_text(f"The model's: {found[2]}")
    press(page, "Control+a")
    write(page, "In my words.")
    press(page, "[")
    assert sentences(page) == ["In my words.", found[0]]
    press(page, "a")
    write(page, "My own.")
    assert set(sentences(page)) == {"In my words.", found[0], "My own."}
    saved(page)
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    kept = sentences(page)
    assert set(kept) == {"In my words.", found[0], "My own."}

    # By mouse: a sentence is chosen in either list.
    page.locator("#report li button").first.click()
    expect(current(page)).to_have_text(kept[0])
    page.click("[data-act=leave]")
    expect(page.locator("#report li")).to_have_count(2)
    press(page, "u")
    expect(page.locator("#report li")).to_have_count(3)
    press(page, "Shift+u")
    expect(page.locator("#report li")).to_have_count(2)
    press(page, "u")
    expect(page.locator("#report li")).to_have_count(3)
    saved(page)

    # Verbatim: what is marked in the document.
    page.locator(".candidate").nth(4).click()
    marked = page.evaluate("[...CSS.highlights.get('evidence')].map(String)")
    assert len(marked) == 1
    press(page, "v")
    expect(page.locator("#report li")).to_have_count(4)
    assert marked[0].split()[:3] == next(one for one in sentences(page) if one not in kept).split()[:3]
    saved(page)


def test_what_is_done_offline_is_kept_and_sent(open_page: OpenPage, report: int) -> None:
    page = open_page("anna")
    open_report(page, report)
    before = page.locator("#report li").count()
    page.context.set_offline(True)
    page.locator(".candidate:not([data-decision])").first.click()
    press(page, "y")
    expect(page.locator("#saved")).to_have_attribute("data-state", "offline")
    page.context.set_offline(False)
    saved(page)
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    assert page.locator("#report li").count() == before + 1


@pytest.mark.parametrize("width", [1440, 900, 390])
def test_it_breaks_no_rule_and_fits(open_page: OpenPage, report: int, width: int) -> None:
    page = open_page("anna", bypass_csp=True, viewport={"width": width, "height": 900})  # axe is put into the page
    open_report(page, report)
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    if width == 1440:
        assert against_rules(page) == []
        assert badly_named(page) == []


def test_it_is_signed_and_final(open_page: OpenPage, report: int) -> None:
    page = open_page("anna")
    open_report(page, report)
    press(page, "s")
    expect(page.locator("#sign-facts")).to_contain_text("left to decide")
    page.keyboard.press("Enter")
    page.wait_for_url("**/")
    expect(page.locator("body")).to_contain_text("Signed: the report can be read, no longer changed.")
    page.goto(f"/reports/{report}/")
    expect(page.locator("header.bar")).to_contain_text("Signed, read-only")
    expect(page.locator("[data-act]")).to_have_count(0)
