"""What the server refused on the screen of labels: what "Keep mine" sends, and that nothing typed goes unseen.

The server's refusals are made up here, in its place: its own part has tests under tests/assignment.
"""

import json
from urllib.parse import parse_qs

from playwright.sync_api import Page, Route

from tests.browser import test_assignment
from tests.browser.conftest import MARKS, Demo, OpenPage, saved
from tests.browser.test_assignment import FACTS, enter, open_screen, press, pressed, revisions, sheet, stands, until

pytestmark = MARKS

given = test_assignment.given
NOTHING = {"labels": {}, "cannot": {}, "stale": {}, "flags": {}, "marks": {}, "asked": None}


def refuse(route: Route, *, status: int = 409, **told: object) -> None:
    """Answer a write as the server does when the answer was changed meanwhile: nothing is said there."""
    seen = int(parse_qs(route.request.post_data or "")["version"][0])
    there = {"version": seen, "to_do": 4, "put_off": 0, "edition": 1, "said": NOTHING, "closed": ""}
    route.fulfill(status=status, body=json.dumps(there | told), headers={"X-Assay-Write": "1"})


def reload(page: Page) -> None:
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    page.wait_for_selector(".answer:not([hidden])")


def test_keep_mine_sends_only_what_can_be_done_again(open_page: OpenPage, demo: Demo, given: str) -> None:
    page = open_page("anna", intercepts=True)
    open_screen(page, given)
    key = sheet(page)
    page.route("**/label/", lambda route: refuse(route, edition=2))
    press(page, "1")
    page.wait_for_selector("#closed:has-text('The nuggets were changed meanwhile.')")
    assert page.locator("#refused button").all_text_contents() == ["Understood"]
    page.unroute("**/label/")
    reload(page)
    assert page.locator("#refused button").all_text_contents() == ["Understood"]

    page.route("**/label/", refuse)
    press(page, "j3")
    page.wait_for_selector(f"#refused li:has-text('{FACTS[1]}')")
    page.unroute("**/label/")
    assert len(page.locator("#refused li").all()) == 2
    # Another refusal, of which nothing can be done again, takes the button from none that had it.
    page.route("**/label/", lambda route: refuse(route, status=400))
    press(page, "2")
    page.wait_for_selector(f"#refused li:has-text('{FACTS[2]}')")
    page.unroute("**/label/")
    page.wait_for_selector(".answer:not([hidden])")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.click("text=Keep mine")
    until(page, lambda: stands(demo, key) == {FACTS[1]: "not_support"})
    page.wait_for_timeout(300)
    assert len([url for url in sent if url.endswith("/label/")]) == 1
    assert revisions(demo, key) == ["label"]
    left = page.locator("#refused li").all_text_contents()
    assert [text for fact in (FACTS[0], FACTS[2]) for text in left if fact in text] == left
    assert len(left) == 2
    assert page.locator("#refused button").all_text_contents() == ["Understood"]
    page.click("text=Understood")
    saved(page)


def test_what_another_version_of_the_page_kept_in_its_own_way_can_only_be_read(open_page: OpenPage, given: str) -> None:
    page = open_page("anna", intercepts=True)
    open_screen(page, given)
    page.route("**/label/", refuse)
    press(page, "2")
    page.wait_for_selector("#refused >> text=Keep mine")
    page.evaluate(
        """() => {
          const name = Object.keys(localStorage).find((one) => one.startsWith("assay.refused."));
          const [{ redoable, ...change }] = JSON.parse(localStorage.getItem(name));
          const other = { ...change, about: { action: "typed", text: "Half a thought" } };
          localStorage.setItem(name, JSON.stringify([change, other]));
        }"""
    )
    reload(page)
    known, other = page.locator("#refused li").all_text_contents()
    assert "partial_support" in known
    assert "Half a thought" in other
    assert page.locator("#refused button").all_text_contents() == ["Understood"]


def test_an_answer_that_is_gone_is_passed_over(open_page: OpenPage, given: str) -> None:
    page = open_page("anna", intercepts=True)
    open_screen(page, given)
    here = page.locator(".answer").evaluate_all("all => all.map(one => Number(one.dataset.sheet))")
    queue = [row[0] for row in json.loads(str(page.locator("#main").get_attribute("data-queue")))]
    gone = next(key for key in queue if key not in here)
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=404, body="no")

    page.route(f"**/answers/{gone}/", answer)
    # The page comes with those that are next; the others are fetched as one goes on.
    open_screen(page, given)
    page.keyboard.press("n")
    until(page, lambda: page.locator("#progress").text_content().split(" · ")[0].endswith("of 7"))
    for _ in range(7):
        page.keyboard.press("p")
    for _ in range(6):
        page.keyboard.press("n")
        until(page, lambda: page.locator(".answer:not([hidden])").count() == 1)
    until(page, lambda: page.locator(".answer").count() == 7)
    assert len(asked) == 1
    saved(page)


def test_a_note_on_an_answer_that_goes_away_stays_in_sight(open_page: OpenPage, given: str) -> None:
    page = open_page("anna", intercepts=True)
    open_screen(page, given)
    enter_from = sheet(page)
    held: list[Route] = []
    page.route("**/label/", lambda route: held.append(route))
    press(page, "j1")
    until(page, lambda: held)
    press(page, "f")
    page.wait_for_selector("#flag[open]")
    page.keyboard.type("no unit is named")
    held[0].fulfill(status=404, body="There is no such answer.", headers={"X-Assay-Write": "1"})
    until(page, lambda: page.locator(".answer:not([hidden])").count() == 1 and sheet(page) != enter_from)
    page.keyboard.press("Enter")
    page.wait_for_selector("#refused li:has-text('flag: no unit is named')")
    assert page.locator("#refused button").all_text_contents() == ["Understood"]


def test_a_refused_sign_off_is_for_the_person_to_do_anew(open_page: OpenPage, given: str) -> None:
    page = open_page("anna", intercepts=True)
    open_screen(page, given)
    while page.locator("[data-act=signOff]").is_hidden():
        press(page, "1" * pressed(page).count(""))
        page.wait_for_timeout(50)
        if page.locator("[data-act=signOff]").is_hidden():
            enter(page)
    saved(page)
    refusal = {"status": 409, "body": '{"closed": ""}', "headers": {"X-Assay-Write": "1"}}
    page.route("**/sign-off/", lambda route: route.fulfill(**refusal))
    press(page, "s")
    page.wait_for_selector("#ending[open]")
    page.keyboard.press("Enter")
    page.wait_for_selector(
        "#closed:has-text('the topic is not signed off. Load the page again, look, then sign off again.')"
    )
    assert page.locator("#refused").count() == 0
    page.unroute("**/sign-off/")
    page.click("text=Load the page again")
    page.wait_for_selector("#main[data-ready]")
    assert page.locator("#refused").count() == 0
    press(page, "s")
    page.wait_for_selector("#ending[open]")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Signed off: your labels of this topic can be read")
