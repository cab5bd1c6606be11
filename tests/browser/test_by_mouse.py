"""A whole topic on each of the four screens by mouse alone: every label on the item that was meant, none skipped."""

from collections.abc import Callable
from itertools import cycle

from playwright.sync_api import Page, expect

from tests.browser import test_assignment, test_editor, test_relevance, test_support
from tests.browser.conftest import MARKS, Demo, OpenPage, double_click, saved

pytestmark = MARKS
assignment_task = test_assignment.given
relevance_tasks = test_relevance.given
support_tasks = test_support.given


def sign_off(page: Page) -> None:
    saved(page)
    page.locator("[data-act=signOff]").click()
    page.locator("#ending button[value=yes]").click()
    page.wait_for_selector("h1:text('Home')")


def click_on(page: Page, sheet: Callable[[Page], int]) -> bool:
    """Click on Next to label, with an answer labelled to its end; return whether that led to another answer."""
    before = sheet(page)
    page.locator("[data-act=next]").click()
    test_support.until(page, lambda: sheet(page) != before or page.locator("[data-act=signOff]").is_visible())
    return sheet(page) != before


def test_citations(open_page: OpenPage, demo: Demo, support_tasks: dict[str, str]) -> None:
    page = open_page("anna")
    address = support_tasks["anna"]
    test_support.open_screen(page, address)
    meant: dict[int, dict[str, str]] = {}
    labels = cycle(test_support.LABELS)
    while True:
        here = meant.setdefault(test_support.sheet(page), {})
        while len(here) < len(test_support.asked(demo, test_support.sheet(page))):
            test_support.until(page, lambda: test_support.is_ready(page))
            citation, label = test_support.citation(page), next(labels)
            assert citation not in here
            here[citation] = label
            page.locator(f".choices [data-label={label}]").click()
        if not click_on(page, test_support.sheet):
            break
    sign_off(page)
    with demo.database() as db:
        query = "select id from support_supportsheet where task_id = ?"
        sheets = [key for [key] in db.execute(query, [test_support.task(address)])]
    every = {key: test_support.stands(demo, key) for key in sheets}
    assert {key: labels for key, labels in every.items() if labels} == {key: of for key, of in meant.items() if of}
    assert {key: set(of) for key, of in every.items()} == {key: set(test_support.asked(demo, key)) for key in sheets}


def test_nuggets_of_answers(open_page: OpenPage, demo: Demo, assignment_task: str) -> None:
    page = open_page("anna")
    test_assignment.open_screen(page, assignment_task)
    meant: dict[int, dict[str, str]] = {}
    labels = cycle(test_assignment.LABEL.values())
    while True:
        here = meant.setdefault(test_assignment.sheet(page), {})
        # From the last to the first: which row is clicked counts, not where the keys are.
        for fact in reversed(test_assignment.FACTS):
            here[fact] = next(labels)
            row = page.locator(".fact", has=page.get_by_text(fact, exact=True))
            row.locator(f"[data-label={here[fact]}]").click()
        if not click_on(page, test_assignment.sheet):
            break
    assert len(meant) == 8
    sign_off(page)
    assert {key: test_assignment.stands(demo, key) for key in meant} == meant


def test_passages(open_page: OpenPage, demo: Demo, relevance_tasks: dict[str, str]) -> None:
    page = open_page("anna")
    test_relevance.open_screen(page, relevance_tasks["Scratch"])
    meant = []
    for grade in "310201":
        meant.append((str(test_relevance.docid(page)), int(grade)))
        page.locator(f".choices [data-label='{grade}']").click()
        # The last ones are fetched once those before them are saved.
        over = (meant[-1][0],) if len(meant) == len(test_relevance.POOL) else (meant[-1][0], None)
        test_relevance.until(page, lambda over=over: test_relevance.docid(page) not in over)
    assert {docid for docid, _ in meant} == set(test_relevance.POOL)
    saved(page)
    assert test_relevance.said(demo, relevance_tasks["Scratch"]) == meant
    page.locator("#rest a").first.click()  # on to the next topic
    page.wait_for_selector("#main[data-ready]")
    assert test_relevance.docid(page) is not None


def test_nuggets(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    test_editor.open_editor(page, demo.bank(2))
    wanted = []
    for at, importance in enumerate(["vital", "okay", "okay"]):
        reading = page.locator(".reading").nth(at)
        reading.scroll_into_view_if_needed()
        word = test_editor.longest_word(reading)
        double_click(reading, word)
        page.locator("#selected").get_by_role("button", name="New nugget").click()
        page.locator(f"#add .{importance}").click()
        page.locator("#add button").click()
        wanted.append((word, importance, [word]))
    # Two are one, and it is the first on the list.
    for box in page.locator(".nugget .chosen").all()[1:]:
        box.click()
    page.locator("[data-act=merge]").click()
    page.locator("[data-act=up]").click()
    words = [word for word, _, _ in wanted[1:]]
    wanted = [("; ".join(words), "okay", words), wanted[0]]
    saved(page)
    found = test_editor.rows(demo, 2)
    assert [
        (row["text"], row["importance"], [test_editor.quoted(demo, one) for one in row["evidence"]]) for row in found
    ] == wanted
    page.locator("[data-act=finish]").click()
    expect(page.locator("#finish-facts")).to_contain_text("2 nuggets: 1 vital, 1 okay.")
    page.locator("#finish button[value=yes]").click()
    page.wait_for_selector("h1:text('Home')")
