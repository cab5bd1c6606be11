"""Two answers compared with the keyboard alone, with the mouse, and on a narrow screen."""

import pytest
from playwright.sync_api import Page

from tests.browser.axe import against_rules, grave
from tests.browser.conftest import MARKS, Demo, OpenPage, saved, until
from tests.browser.test_pages import badly_named, too_wide

pytestmark = MARKS
PAIRS = 28


@pytest.fixture(scope="module")
def address(demo: Demo) -> str:
    return demo.run("from tests.browser.world import give_pairs; give_pairs()").splitlines()[-1]


@pytest.fixture
def page(open_page: OpenPage, address: str) -> Page:
    page = open_page("anna", bypass_csp=True)
    page.goto(address)
    page.wait_for_selector("#main[data-ready]")
    return page


def present(page: Page) -> str:
    """Return the texts of the pair on screen, as one; nothing while it comes."""
    shown = page.locator("article.answer:not([hidden])")
    return shown.inner_text() if shown.count() else ""


def press(page: Page, key: str) -> str:
    """Press a key that leads to another pair, and return what was compared."""
    before = present(page)
    page.keyboard.press(key)
    until(page, lambda: present(page) not in ("", before))
    return before


def pressed(page: Page) -> list[str]:
    """Return which choice stands."""
    return [
        str(choice.get_attribute("data-label")) for choice in page.locator("[data-choice][aria-pressed=true]").all()
    ]


def stored(demo: Demo) -> list[tuple[str, str | None, str]]:
    """Return what is said of pairs: state, verdict and reason, in the order in which it was said."""
    with demo.database() as db:
        return [
            tuple(row)
            for row in db.execute(
                """select state, verdict, reason from preference_preferencepair
                where task_id is not null and state <> 'open' order by at"""
            ).fetchall()
        ]


def test_by_keyboard_from_the_first_pair_to_the_sign_off(page: Page, demo: Demo) -> None:
    assert "of 28 · 0 done" in page.locator("#progress").inner_text()
    first = press(page, "1")
    press(page, "k")
    assert present(page) == first
    assert pressed(page) == ["1"]
    page.keyboard.press("2")  # said anew, and on to the next without a preference
    until(page, lambda: present(page) not in ("", first))
    second = present(page)
    press(page, "u")
    assert (present(page), pressed(page)) == (first, ["1"])
    page.keyboard.press("Enter")
    until(page, lambda: present(page) == second)
    page.keyboard.press("x")
    page.wait_for_selector("#cannot[open]")
    page.keyboard.type("Both are cut off.")
    press(page, "Enter")
    third = present(page)
    page.keyboard.press("f")
    page.wait_for_selector("#flag[open]")
    page.keyboard.type("Is this one answer?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#told :text('Is this one answer?')")
    press(page, "l")
    saved(page)
    assert stored(demo) == [("given", "1", ""), ("unjudgeable", None, "Both are cut off.")]
    for number in range(PAIRS - 3):
        press(page, "12"[number % 2])
    assert present(page) == third, "what was put off comes last"
    page.keyboard.press("1")
    page.wait_for_selector("[data-act=signOff]:focus")
    saved(page)
    page.keyboard.press("s")
    page.wait_for_selector("#ending[open]")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Home')")
    found = stored(demo)
    assert len(found) == PAIRS
    assert [verdict for _, verdict, _ in found[2:5]] == ["1", "2", "1"]


def test_what_is_signed_off_can_be_looked_at(page: Page) -> None:
    assert "signed off" in page.locator("#closed").inner_text()
    before = pressed(page)
    press(page, "ArrowDown")
    page.keyboard.press("1")
    assert "signed off" in page.locator("#closed").inner_text()
    press(page, "ArrowUp")
    assert pressed(page) == before


@pytest.fixture
def anew(demo: Demo, page: Page, address: str) -> Page:
    """The screen of the same topic, to be done again."""
    with demo.database() as db:
        db.execute("update work_task set state = 'open' where kind = 'preference'")
        db.commit()
    page.goto(address)
    page.wait_for_selector("#main[data-ready]")
    return page


def test_by_mouse_and_for_everybody(anew: Page) -> None:
    page = anew
    page.click("[data-choice][data-label='2']")
    saved(page)
    assert pressed(page) == ["2"]
    assert against_rules(page) + badly_named(page) + too_wide(page) == []


def test_on_a_narrow_screen_answers_stand_below_each_other(anew: Page) -> None:
    page = anew
    page.set_viewport_size({"width": 390, "height": 844})
    one, other = (section.bounding_box() for section in page.locator(".answer:not([hidden]) section").all())
    assert one
    assert other
    assert (one["x"], one["y"] + one["height"] <= other["y"]) == (other["x"], True)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("[data-choice]").first.is_visible()
    assert grave(page) == []
    page.set_viewport_size({"width": 1440, "height": 900})
    one, other = (section.bounding_box() for section in page.locator(".answer:not([hidden]) section").all())
    assert one
    assert other
    assert one["y"] == other["y"]
    assert one["x"] + one["width"] <= other["x"]
