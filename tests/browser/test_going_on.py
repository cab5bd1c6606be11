"""One rule for going on, on each labelling screen: a label and Enter, through a whole topic, miss nothing."""

import re
from collections.abc import Callable
from itertools import cycle

from playwright.sync_api import Page

from tests.browser import test_assignment, test_relevance, test_support
from tests.browser.conftest import MARKS, Demo, OpenPage, saved
from tests.browser.test_outbox import sign_in_again

pytestmark = MARKS
assignment_task = test_assignment.given
relevance_tasks = test_relevance.given
support_tasks = test_support.given


def is_on_sign_off(page: Page) -> bool:
    return bool(page.evaluate("document.activeElement.dataset.act === 'signOff'"))


def label_all(page: Page, here: Callable[[], tuple[int, str]], keys: str = "123") -> list[tuple[int, str, str]]:
    """Press a label, then Enter, until that leads to Sign off; return what each label was meant for."""
    meant = []
    for key in cycle(keys):
        test_support.until(page, lambda: page.locator("[data-key='1'][data-label]:not([disabled])").count())
        meant.append((*here(), key))
        page.keyboard.press(key)
        page.keyboard.press("Enter")
        # Where Enter stands on an item without a label it does nothing; at the end of an answer it leads to the next.
        if is_on_sign_off(page):
            return meant
        assert len(meant) < 500
    raise AssertionError


def test_label_and_enter_through_citations(open_page: OpenPage, demo: Demo, support_tasks: dict[str, str]) -> None:
    page = open_page("anna")
    address = support_tasks["anna"]
    test_support.open_screen(page, f"{address}?answer={test_support.longest(demo, address)}")
    first = test_support.citation(page)
    page.keyboard.press("Enter")
    assert test_support.citation(page) == first, "nothing is said of it yet"
    hint = "No label yet: 1 2 3 label it, x if it can't be judged, ↓ or j passes over it."
    assert page.locator("#hint").text_content() == hint
    page.keyboard.press("ArrowDown")
    second = test_support.citation(page)
    page.keyboard.press("2")
    assert test_support.citation(page) not in (first, second)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert test_support.citation(page) == first
    meant = label_all(page, lambda: (test_support.sheet(page), test_support.citation(page)))
    saved(page)
    label = dict(zip("123", test_support.LABELS, strict=True))
    by_sheet: dict[int, dict[str, str]] = {}
    for sheet, citation, key in meant:
        by_sheet.setdefault(sheet, {})[citation] = label[key]
    by_sheet[meant[0][0]][second] = "partial"
    with demo.database() as db:
        query = "select id from support_supportsheet where task_id = ?"
        sheets = [key for [key] in db.execute(query, [test_support.task(address)])]
    every = {key: test_support.stands(demo, key) for key in sheets}
    assert {key: labels for key, labels in every.items() if labels} == by_sheet
    assert {key: set(labels) for key, labels in every.items()} == {
        key: set(test_support.asked(demo, key)) for key in sheets
    }
    assert len({(sheet, citation) for sheet, citation, _ in meant}) == len(meant), "nothing was asked twice"
    page.keyboard.press("u")
    test_support.until(page, lambda: (test_support.sheet(page), test_support.citation(page)) == meant[-1][:2])


def test_label_and_enter_through_nuggets(open_page: OpenPage, demo: Demo, assignment_task: str) -> None:
    page = open_page("anna")
    test_assignment.open_screen(page, assignment_task)
    facts = test_assignment.FACTS
    page.keyboard.press("Enter")
    assert test_assignment.current(page) == facts[0], "nothing is said of it yet"
    assert "No label yet: 1 2 3 label it" in str(page.locator("#hint").text_content())
    # The last first: what was passed over comes round, and can't be judged counts as decided, a flag does not.
    page.keyboard.press("ArrowUp")
    for _ in facts:
        page.keyboard.press("ArrowDown")
    page.keyboard.press("3")
    assert test_assignment.current(page) == facts[0]
    page.keyboard.press("f")
    page.keyboard.type("odd")
    page.keyboard.press("Enter")
    page.wait_for_selector(".fact[aria-current] .told:has-text('flag odd')")
    page.keyboard.press("Enter")
    assert test_assignment.current(page) == facts[0]
    page.keyboard.press("x")
    page.keyboard.type("breaks off")
    page.keyboard.press("Enter")
    test_assignment.until(page, lambda: test_assignment.current(page) == facts[1])
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    assert test_assignment.current(page) == facts[1]
    assert page.locator("#hint").text_content() == "On to nugget 2 of 4."
    first = test_assignment.sheet(page)
    meant = label_all(page, lambda: (test_assignment.sheet(page), str(test_assignment.current(page))))
    saved(page)
    by_sheet: dict[int, dict[str, str]] = {first: {facts[3]: "not_support"}}
    for sheet, fact, key in meant:
        by_sheet.setdefault(sheet, {})[fact] = test_assignment.LABEL[key]
    assert len(by_sheet) == 8
    assert {key: test_assignment.stands(demo, key) for key in by_sheet} == by_sheet
    assert {key: set(facts) - set(labels) for key, labels in by_sheet.items() if len(labels) < 4} == {first: {facts[0]}}
    assert page.locator("#progress").text_content().endswith("8 done")
    # After an answer's last label the focus stays: that it is done is said, and another label says what it changes.
    page.keyboard.press("ArrowDown")
    assert page.locator("#hint").text_content() == "", "a notice is about what was done last"
    assert test_assignment.current(page) == facts[3]
    stood = by_sheet[test_assignment.sheet(page)][facts[3]]
    key, other = next((key, label) for key, label in test_assignment.LABEL.items() if label != stood)
    page.keyboard.press(key)
    number = int(re.findall(r"Answer (\d)", str(page.locator("#progress").text_content()))[0])
    done = f"Answer {number} is done: ⏎ goes on."
    assert page.locator("#hint").text_content() == f"Changed from {stood} to {other}. {done}"
    page.keyboard.press("u")
    test_assignment.until(page, lambda: test_assignment.pressed(page)[3] == stood)
    # Undo goes to what it undid.
    page.keyboard.press("u")
    assert (test_assignment.sheet(page), test_assignment.current(page)) == meant[-1][:2]
    page.keyboard.press("1")
    assert (test_assignment.sheet(page), test_assignment.current(page)) == meant[-1][:2]
    saved(page)


def test_grades_and_enter_through_passages(open_page: OpenPage, demo: Demo, relevance_tasks: dict[str, str]) -> None:
    page = open_page("anna")
    test_relevance.open_screen(page, relevance_tasks["Scratch"])
    first = test_relevance.docid(page)
    page.keyboard.press("Enter")
    assert test_relevance.docid(page) == first
    hint = "No label yet: 0 1 2 3 label it, x if it can't be judged, ↓ or j passes over it."
    assert page.locator("#hint").text_content() == hint
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    third = test_relevance.docid(page)
    page.keyboard.press("k")
    second = test_relevance.docid(page)
    assert len({first, second, third}) == 3
    assert test_relevance.press(page, "1") == second
    assert test_relevance.docid(page) == third
    saved(page)
    assert test_relevance.docid(page) == third
    page.keyboard.press("u")
    test_relevance.until(page, lambda: test_relevance.docid(page) == second)
    meant = []
    for grade in "012301":
        test_relevance.until(page, lambda: test_relevance.docid(page))  # the next may still be on its way
        meant.append((str(test_relevance.docid(page)), int(grade)))
        page.keyboard.press(grade)
        page.keyboard.press("Enter")
        saved(page)
        test_relevance.until(page, lambda: test_relevance.docid(page) != meant[-1][0])
    assert {docid for docid, _ in meant} == set(test_relevance.POOL)
    assert test_relevance.said(demo, relevance_tasks["Scratch"])[2:] == meant
    assert first in [docid for docid, _ in meant[1:]], "what was passed over came round"
    page.wait_for_selector("#rest a:visible")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('#rest a')"), "on to the next topic"


def test_signed_out_in_mid_work(
    open_page: OpenPage, assignment_task: str, support_tasks: dict[str, str], relevance_tasks: dict[str, str]
) -> None:
    """Each screen has a link to sign in, and sends by itself soon after; the editor's is in test_outbox.py."""
    page = open_page("anna")
    for address in (assignment_task, support_tasks["anna"], relevance_tasks["wasps"]):
        page.goto(address)
        page.wait_for_selector("#main[data-ready]")
        page.context.clear_cookies(name="sessionid")
        page.keyboard.press("3")
        page.wait_for_selector("#saved[data-state=blocked]:has-text('you are signed out.')")
        with page.context.expect_page() as tab:
            page.click(".mend:text-is('Sign in in a new tab')")
        sign_in_again(tab.value, "anna")
        page.wait_for_selector("#saved[data-state=saved]:text-is('Saved')", timeout=5_000)
        tab.value.close()


def test_choices_are_in_sight_on_a_phone(
    open_page: OpenPage, support_tasks: dict[str, str], relevance_tasks: dict[str, str]
) -> None:
    page = open_page("anna")
    page.set_viewport_size({"width": 390, "height": 844})
    for address in (support_tasks["anna"], relevance_tasks["ants"]):
        page.goto(address)
        page.wait_for_selector("#main[data-ready]")
        page.wait_for_selector(".passage:not([hidden])")
        text = page.locator(".passage:not([hidden]) .reading")
        text.evaluate("element => element.textContent = element.textContent.repeat(40)")
        foot = page.locator(".keys-bar").bounding_box()
        for choice in page.locator(".choices button").all():
            box = choice.bounding_box()
            assert box
            assert foot
            assert 0 < box["y"] < box["y"] + box["height"] <= foot["y"]
        assert page.locator("header.bar a:text-is('Home')").get_attribute("href") == "/"
        assert "Topic 1 of " in str(page.locator("header.bar").text_content())


def test_the_home_says_what_to_do_and_how_far_it_is_on_a_phone(
    open_page: OpenPage, support_tasks: dict[str, str]
) -> None:
    page = open_page("anna")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/")
    box = page.locator("a.go", has_text="Continue").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= 844
    step = page.locator(".topics li li", has=page.locator(f"a[href='{support_tasks['anna']}']"))
    assert "Say of each citation how far its passage supports the sentence." in step.inner_text()
    done, total = (int(number) for number in re.findall(r"citations (\d+)/(\d+)", step.inner_text())[0])
    assert total == 58
    bar = step.locator("meter, progress")
    assert bar.evaluate("(bar) => [bar.value, bar.max, bar.offsetWidth > 50]") == [done, total, True]
