"""A support topic that is drawn with the keyboard alone, left, and taken over by somebody else."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import grave
from tests.browser.conftest import MARKS, Demo, OpenPage, saved, tab_to, wait_until_signed_in
from tests.browser.test_support import citation, sheet, stands, until

pytestmark = MARKS

TAKE = "form[action^='/queues/'] button"


@pytest.fixture(scope="module")
def waiting(demo: Demo, browser) -> None:
    """What the organizer did, with the keyboard alone: demo-2 waits for whoever judges its support from scratch."""
    context = browser.new_context(base_url=demo.address, viewport={"width": 1280, "height": 720}, bypass_csp=True)
    page = context.new_page()
    page.goto("/login/")
    page.fill("#id_username", "olga")
    page.fill("#id_password", "demo-password")
    page.keyboard.press("Enter")
    wait_until_signed_in(page)
    page.goto("/campaigns/demo/plan/")
    tab_to(page, "[aria-label='Choose demo-2']", most=100)
    page.keyboard.press("Space")
    tab_to(page, ".bulk .go", most=100)
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Give 1 topic')")
    work = page.get_by_label("Support from scratch", exact=True).get_attribute("value")
    tab_to(page, f"[name=condition][value='{work}']")
    page.keyboard.press("Space")
    tab_to(page, "#id_person")
    page.keyboard.type("A queue")
    tab_to(page, "form button.go")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=In the queue of support from scratch: 1 topic.")
    row = page.locator("tr:has([aria-label='Choose demo-2'])")
    assert row.get_by_text("in the queue", exact=True).count() == 1
    assert grave(page) == []
    context.close()


def test_what_giving_adds_is_said_at_once_and_moves_no_button(open_page: OpenPage) -> None:
    page = open_page("olga")
    page.goto("/campaigns/demo/plan/give/?topics=1")
    button = page.get_by_role("button", name="Give 1 topic")
    place = button.bounding_box()
    assert page.locator("#id_person").input_value() == "", "of somebody who has chosen nobody yet"
    for name in ("Support from scratch", "People and the rehearsal: ben"):
        page.get_by_label(name, exact=True).check()
        expect(page.locator("#effect")).to_contain_text(name)
        assert button.bounding_box() == place


def is_narrow_enough(page: Page) -> bool:
    page.set_viewport_size({"width": 320, "height": 640})
    fits = bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
    page.set_viewport_size({"width": 1280, "height": 720})
    return fits


def take(page: Page) -> None:
    """Draw the next topic with the keyboard alone."""
    tab_to(page, TAKE)
    page.keyboard.press("Enter")
    page.wait_for_selector("#main[data-ready]")
    page.wait_for_selector(".passage:not([hidden])")


def test_a_topic_is_drawn_left_and_taken_over(open_page: OpenPage, demo: Demo, waiting: None) -> None:
    annas = open_page("anna", bypass_csp=True)
    annas.goto("/")
    assert "1 topic free" in str(annas.locator("form[action^='/queues/']").text_content())
    assert grave(annas) == []
    assert is_narrow_enough(annas)
    take(annas)
    address = annas.url
    begun, here = sheet(annas), citation(annas)
    annas.keyboard.press("1")
    saved(annas)
    assert stands(demo, begun) == {here: "full"}
    bens = open_page("ben")
    bens.goto("/")
    assert bens.locator(TAKE).count() == 0, "it is hers"

    with demo.database() as db:
        leased = "update work_task set leased_until = '2020-01-01 00:00:00' where leased_until is not null"
        assert db.execute(leased).rowcount == 1
    bens.reload()
    take(bens)
    assert bens.url != address
    assert stands(demo, begun) == {}, "he begins anew, and does not see what she said"
    assert bens.locator("[data-label][aria-pressed=true]").count() == 0

    # She comes back too late: what she says is kept in her browser, and she is told.
    annas.keyboard.press("2")
    annas.wait_for_selector("#saved[data-state=blocked]")
    told = "Not saved: this work is not yours any more. Tell your organizer. 1 change kept in this browser."
    assert annas.locator("#saved").text_content() == told
    assert stands(demo, begun) == {}
    with demo.database() as db:
        verbs = db.execute(
            "select distinct version, verb from support_labelevent where sheet_id = ? order by version", [begun]
        )
        assert [verb for _, verb in verbs] == ["label", "handed over"]
        events = db.execute(
            "select verb from campaigns_event where verb in ('task drawn', 'lease ran out') order by id"
        )
        assert [verb for [verb] in events] == ["task drawn", "task drawn", "lease ran out"]

    page = bens.context.new_page()
    page.goto("/")
    page.keyboard.press("c")
    page.wait_for_url(bens.url)
    until(page, lambda: page.locator("#main[data-ready]").count() == 1)
    page.close()
