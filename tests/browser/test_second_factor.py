"""A second factor as a person sees it: set up, asked for when signing in, turned off."""

import time

import pyotp
from playwright.sync_api import Page

from assessor.accounts.codes import STEP
from tests.browser.conftest import MARKS, PASSWORD, OpenPage, sign_in, tab_to
from tests.browser.test_pages import against_rules, badly_named, too_wide

pytestmark = MARKS


def give(page: Page, **fields: str) -> None:
    """Fill in a form and send it by keyboard."""
    for name, text in fields.items():
        tab_to(page, f"#id_{name}")
        page.keyboard.type(text)
    page.keyboard.press("Enter")


def faults(page: Page) -> list[str]:
    """Return what is wrong with a page for people who don't see it as others do."""
    return against_rules(page) + badly_named(page) + too_wide(page)


def test_set_up_asked_for_and_turned_off(open_page: OpenPage) -> None:
    page = open_page("anna", bypass_csp=True)
    page.goto("/second-factor/")
    assert faults(page) == []
    assert page.locator(".qr svg").bounding_box()["width"] >= 120, "large enough to be read by a phone"
    app = pyotp.TOTP(page.locator("#key").inner_text().replace(" ", ""), interval=STEP)
    give(page, password=PASSWORD, code=app.now())
    page.wait_for_selector("h1:text('Your recovery codes')")
    assert faults(page) == []
    [first, *others] = page.locator("#recovery code").all_inner_texts()
    assert len({first, *others}) == 8

    page.context.clear_cookies()
    page.goto("/login/")
    give(page, username="anna", password=PASSWORD)
    page.wait_for_selector("h1:text('Your code')")
    assert faults(page) == []
    page.goto("/answers/")
    assert "/login/" in page.url, "the password alone opens nothing"
    page.goto("/login/code/")
    give(page, code="nothing of the kind")
    page.wait_for_selector("#id_code[aria-invalid=true]")
    assert faults(page) == []
    give(page, code=first)
    page.wait_for_selector("h1:text('Home')")

    page.goto("/second-factor/")
    assert "7 recovery codes left" in page.inner_text("main")
    assert faults(page) == []
    # The app's code of this half minute was used up when it was set up; the next one is taken already.
    give(page, password=PASSWORD, code=app.at(int(time.time()) + STEP))
    page.wait_for_selector("h1:text('Your recovery codes')")
    page.goto("/second-factor/")
    tab_to(page, "#id_password")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Tab")
    page.keyboard.type(others[0])
    tab_to(page, "button[formaction]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#id_code[aria-invalid=true]")  # new recovery codes: the old ones are good no longer
    assert page.locator("h1:text('Second factor')").count() == 1

    again = open_page()
    again.goto("/login/")
    give(again, username="anna", password=PASSWORD)
    again.wait_for_selector("h1:text('Your code')")
    sign_in(open_page(), "ben")  # who has none is asked for none
