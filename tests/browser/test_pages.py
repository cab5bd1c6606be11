"""Every page as a person sees it: accessible, narrow and wide, light and dark, light in bytes."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import MARKS, Demo, OpenPage, tab_to

pytestmark = MARKS

PAGES = {
    None: ["/login/"],
    "anna": ["/", "/nuggets/{bank}/", "/password/", "/password/done/", "/guidelines/nuggets/", "/nothing/"],
    "olga": [
        "/",
        "/new-campaign/",
        "/campaigns/demo/",
        "/campaigns/demo/protocol/",
        "/campaigns/demo/conditions/new/",
        "/campaigns/demo/imports/",
        "/campaigns/demo/imports/8/",
        "/campaigns/demo/imports/12/",
        "/campaigns/demo/plan/",
        "/campaigns/demo/scores/",
        "/campaigns/demo/scores/?condition=2&condition=3",
        "/campaigns/demo/scores/2/topics/1/",
        "/campaigns/demo/scores/2/runs/1/",
        "/campaigns/demo/pairs/?words=1",
        "/campaigns/demo/studies/",
        "/campaigns/demo/studies/1/",
        "/campaigns/demo/comparisons/",
        "/campaigns/demo/comparisons/1/",
        "/campaigns/demo/exports/",
        "/nuggets/{bank}/",
    ],
}


def visit(page: Page, demo: Demo, address: str) -> None:
    """Go to one of PAGES, which has to be there: an error page would pass for it otherwise."""
    response = page.goto(address.format(bank=demo.bank(1)))
    assert response is not None
    assert response.status == (404 if address == "/nothing/" else 200), address


def grave(page: Page) -> list[str]:
    """Return what axe finds serious or critical, as "rule: first element"."""
    found = Axe().run(page).response["violations"]
    return [f"{v['id']}: {v['nodes'][0]['html']}" for v in found if v["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_grave(name: str | None, scheme: str, open_page: OpenPage, demo: Demo) -> None:
    # axe is put into the page by the test, which the pages' own policy rightly refuses.
    page = open_page(name, color_scheme=scheme, bypass_csp=True)
    assert {address: found for address in PAGES[name] if (visit(page, demo, address), found := grave(page))[1]} == {}


def test_axe_finds_nothing_grave_in_the_editor_at_work(open_page: OpenPage) -> None:
    page = open_page("ben", bypass_csp=True)
    page.keyboard.press("c")
    page.wait_for_selector("#main[data-ready]")
    page.keyboard.press("f")
    page.wait_for_selector("text=There is no nugget yet.")
    page.keyboard.press("n")
    for text in ("One fact", "one  FACT", "x" * 300, "<script>alert(1)</script> \u202eevil"):
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.wait_for_selector("#saved[data-state=saved]")
    assert page.locator(".same:visible").text_content() == "same as 1"
    assert page.locator(".nugget textarea.text").last.input_value() == "<script>alert(1)</script> \u202eevil"
    assert grave(page) == []
    page.keyboard.press("?")
    page.wait_for_selector("#keys[open]")
    assert grave(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.wait_for_selector("#guidelines[open] h2")
    assert grave(page) == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [320, 1280])
def test_no_page_scrolls_sideways(name: str | None, width: int, open_page: OpenPage, demo: Demo) -> None:
    page = open_page(name)
    page.set_viewport_size({"width": width, "height": 720})
    wide = {}
    for address in PAGES[name]:
        visit(page, demo, address)
        scroll = page.evaluate("document.documentElement.scrollWidth")
        if scroll > width:
            wide[address] = scroll
    assert wide == {}


def test_the_editor_is_light(open_page: OpenPage, demo: Demo) -> None:
    """At most 12 requests and 100 kB of compressed CSS and JavaScript."""
    page = open_page("anna")
    requests, sizes = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on(
        "requestfinished", lambda request: sizes.append((request.resource_type, request.sizes()["responseBodySize"]))
    )
    page.goto(f"/nuggets/{demo.bank(1)}/")
    page.wait_for_load_state("networkidle")
    assert len(requests) <= 12, requests
    code = sum(size for kind, size in sizes if kind in ("script", "stylesheet"))
    assert 0 < code <= 100_000


def close_dialog(page: Page) -> None:
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog[open]", state="detached")


def test_keys_can_be_changed_and_switched_off(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    page.goto(f"/nuggets/{demo.bank(1)}/")
    page.wait_for_selector("#main[data-ready]")

    def focused() -> str | None:
        return page.evaluate("document.activeElement.id || document.activeElement.tagName")

    page.keyboard.press("?")
    page.get_by_label("New nugget, from the selected text or the focused passage").fill("z")
    page.get_by_label("New nugget, from the selected text or the focused passage").press("Tab")
    close_dialog(page)
    assert page.locator("label[for=new-text] kbd").text_content() == "z"
    page.keyboard.press("n")
    assert focused() != "new-text"
    page.keyboard.press("z")
    assert focused() == "new-text"
    page.keyboard.press("z")  # while typing it is a letter
    assert page.locator("#new-text").input_value() == "z"
    page.locator("#new-text").fill("")
    page.locator("#new-text").blur()
    page.keyboard.press("?")
    page.get_by_label("Switch single-character keys off").check()
    close_dialog(page)
    page.keyboard.press("z")
    assert focused() != "new-text"


def test_the_first_importance_is_near(open_page: OpenPage, demo: Demo) -> None:
    """From a freshly opened editor to work: one key to the new nugget, one to the first on the list."""
    page = open_page("anna")
    page.goto(f"/nuggets/{demo.bank(2)}/")
    page.wait_for_selector("#main[data-ready]")
    page.keyboard.press("n")
    page.keyboard.type("A fact")
    page.keyboard.press("Enter")
    page.wait_for_selector("#saved[data-state=saved]:text-is('Saved')")
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    page.keyboard.press("j")
    page.keyboard.press("v")
    page.wait_for_selector("#saved[data-state=saved]:text-is('Saved')")
    page.reload()
    assert page.locator(".nugget input[value=vital]").is_checked()
    tab_to(page, "textarea.text", most=40)
