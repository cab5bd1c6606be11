"""The 0-3 screen with the keyboard alone: grading, undoing, a lost connection, two tabs, and a model's grade beside."""

import re

import pytest
from playwright.sync_api import Page

from tests.browser.axe import grave
from tests.browser.conftest import MARKS, Demo, OpenPage, saved, until
from tests.browser.tasks import POOL

pytestmark = MARKS


@pytest.fixture
def given(tasks: dict[str, dict[str, str]]) -> dict[str, str]:
    """Addresses of Anna's work on passages: from scratch on three topics, and post-editing."""
    return tasks["relevance"]


def open_screen(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("#main[data-ready]")


def said(demo: Demo, address: str) -> list[tuple[str, int | None]]:
    """Return all judgments of a task, in order: docid, and grade or None."""
    task = int(re.findall(r"\d+", address)[0])
    with demo.database() as db:
        rows = db.execute(
            """select judgment.docid, event.value from relevance_labelevent event
            join relevance_relevancejudgment judgment on judgment.id = event.judgment_id
            where event.task_id = ? order by event.id""",
            [task],
        ).fetchall()
    return [(docid, None if value is None else int(value)) for docid, value in rows]


def docid(page: Page) -> str | None:
    """Return which passage is on screen."""
    script = "document.querySelector('.passage:not([hidden]) p:last-child')?.textContent"
    return page.evaluate(script)


def model_said(page: Page) -> str:
    """Return the model's grade beside the choices, once it is there."""
    page.wait_for_selector("[data-shown]:text-matches('^[0-3]$')")
    return str(page.locator("[data-shown]").text_content())


def press(page: Page, key: str) -> str:
    """Press the key of a grade, wait for the next passage, and return what was graded."""
    before = docid(page)
    page.keyboard.press(key)
    until(page, lambda: docid(page) not in (before, None))
    return str(before)


def test_three_grades_an_undo_and_a_lost_connection(open_page: OpenPage, demo: Demo, given: dict[str, str]) -> None:
    page = open_page("anna")
    page.goto("/")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    open_screen(page, given["Scratch"])
    page.wait_for_load_state("networkidle")
    assert len(requests) <= 12, requests
    assert page.locator("[data-shown]").count() == 0
    assert page.locator("#progress").text_content() == "0 of 6"

    # One Tab from the fresh page stands the first choice; a key alone does it as well.
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.label") == "0"
    first = press(page, "Enter")
    second = press(page, "3")
    third = press(page, "2")
    saved(page)
    assert said(demo, given["Scratch"]) == [(first, 0), (second, 3), (third, 2)]
    assert page.locator("#progress").text_content() == "3 of 6"

    page.keyboard.press("u")
    until(page, lambda: docid(page) == third)
    saved(page)
    assert page.locator("#progress").text_content() == "2 of 6"
    assert press(page, "1") == third
    saved(page)
    assert said(demo, given["Scratch"])[3:] == [(third, None), (third, 1)]

    page.context.set_offline(True)
    fourth, fifth = press(page, "2"), press(page, "0")
    page.wait_for_selector("#saved[data-state=offline]:has-text('2 changes kept in this browser')")
    assert len(said(demo, given["Scratch"])) == 5
    page.context.set_offline(False)
    saved(page)
    assert said(demo, given["Scratch"])[5:] == [(fourth, 2), (fifth, 0)]

    # The last one can't be judged, which takes a reason; then the topic is done.
    last = docid(page)
    page.keyboard.press("x")
    page.keyboard.press("Enter")
    assert page.locator("#cannot[open]").count() == 1, "a reason is needed"
    page.keyboard.type("Half of it is missing")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=All 6 passages of this topic are judged.")
    saved(page)
    assert said(demo, given["Scratch"])[7:] == [(last, None)]
    assert "can't be judged: Half of it is missing" in page.locator("#rest").text_content()
    page.keyboard.press("u")
    page.wait_for_selector(".passage:not([hidden])")
    assert docid(page) == last
    saved(page)


def test_a_lost_answer_is_asked_for_again_and_counts_once(
    open_page: OpenPage, demo: Demo, given: dict[str, str]
) -> None:
    page = open_page("anna", intercepts=True)
    open_screen(page, given["Scratch"])
    before = said(demo, given["Scratch"])
    lost: list[str] = []

    def lose_the_first_answer(route) -> None:
        lost.append(route.request.post_data or "")
        route.fetch()
        if len(lost) == 1:
            route.abort()
        else:
            route.continue_()

    page.route("**/judge/", lose_the_first_answer)
    last = docid(page)
    page.keyboard.press("1")
    page.wait_for_selector("text=All 6 passages of this topic are judged.")
    saved(page)
    assert len(lost) == 2
    assert lost[0] == lost[1]
    assert said(demo, given["Scratch"]) == [*before, (last, 1)]


def test_two_tabs_on_one_passage_show_both_grades(open_page: OpenPage, demo: Demo, given: dict[str, str]) -> None:
    first = open_page("anna")
    open_screen(first, given["Scratch"])
    # What is done can be gone back to, by a key or by its name.
    first.keyboard.press("k")
    first.wait_for_selector(".passage:not([hidden])")
    second = first.context.new_page()
    open_screen(second, given["Scratch"])
    second.click(f"#rest a:text-is('{docid(first)}')")
    second.wait_for_selector(".passage:not([hidden])")
    assert docid(second) == docid(first)
    first.keyboard.press("0")
    first.wait_for_selector("text=All 6 passages of this topic are judged.")
    saved(first)
    second.keyboard.press("3")
    second.wait_for_selector("#refused")
    told = second.locator("#refused").text_content()
    assert "”: 3" in told
    assert "It now says: 0" in told
    second.click("text=Keep mine")
    saved(second)
    assert said(demo, given["Scratch"])[-2:] == [(said(demo, given["Scratch"])[-1][0], grade) for grade in (0, 3)]


def test_a_models_grade_stands_beside_the_choices_and_costs_the_same_key(
    open_page: OpenPage, demo: Demo, given: dict[str, str]
) -> None:
    def exposures() -> int:
        with demo.database() as db:
            return db.execute("select count(*) from work_exposure where kind = 'relevance'").fetchone()[0]

    page = open_page("anna", bypass_csp=True)
    before = exposures()
    open_screen(page, given["Edited"])
    shown = model_said(page)
    assert exposures() == before + 1, "those fetched ahead have not been seen"
    assert shown == str(POOL.index(docid(page)) % 4)
    graded = press(page, shown)
    page.wait_for_selector(".choices button:not([disabled])")
    assert model_said(page) == str(POOL.index(docid(page)) % 4)
    saved(page)
    assert said(demo, given["Edited"]) == [(graded, int(shown))]
    assert exposures() == before + 2
    page.keyboard.press("x")
    page.wait_for_selector("#cannot[open]")
    assert grave(page) == []


def test_the_page_renews_its_leases_and_shows_what_went_back(
    open_page: OpenPage, demo: Demo, given: dict[str, str]
) -> None:
    page = open_page("anna")
    page.clock.install()
    with page.expect_response("**/draw/"):  # once the model's grade was asked for, the page looks at what is at hand
        open_screen(page, given["Queue"])
    model_said(page)
    mine = docid(page)
    held = "select count(*) from relevance_relevancejudgment where held_until > datetime('now', '+150 seconds')"
    with demo.database() as db:
        assert db.execute(held).fetchone() == (2,)
        soon = "update relevance_relevancejudgment set held_until = datetime('now', '+5 seconds')"
        db.execute(f"{soon} where holder_id is not null")
    db.close()
    with page.expect_response("**/draw/"):
        page.clock.run_for(31_000)
    assert docid(page) == mine
    with demo.database() as db:
        assert db.execute(held).fetchone() == (2,)
        [[ben]] = db.execute("select id from accounts_person where username = 'ben'").fetchall()
        db.execute(
            "update relevance_relevancejudgment set holder_id = ? where docid = ? and holder_id is not null",
            [ben, mine],
        )
    db.close()
    with page.expect_response("**/draw/"):
        page.clock.run_for(31_000)
    page.wait_for_selector("#hint:text('The passage is not yours to judge any more: this is another one.')")
    other = docid(page)
    assert other != mine
    page.keyboard.press("3")  # meant for the passage before: it counts for none
    assert docid(page) == other


def test_a_grade_that_is_not_told_is_said_and_asked_for_again(open_page: OpenPage, given: dict[str, str]) -> None:
    page = open_page("anna", intercepts=True)
    answers = [401, 500, 400]

    def answer(route) -> None:
        if answers:
            route.fulfill(status=answers.pop(0), body="refused")
        else:
            route.continue_()

    page.route("**/show/", answer)
    open_screen(page, given["Edited"])
    page.keyboard.press("j")  # what was on screen before is told at once
    page.wait_for_selector("#saved[data-state=blocked]:has-text('you are signed out.')")
    page.wait_for_selector("#saved[data-state=offline]:has-text('the server does not answer')")
    model_said(page)
    page.wait_for_selector(".choices button:not([disabled])")
    saved(page)


def test_the_screen_is_accessible_and_does_not_scroll_sideways(open_page: OpenPage, given: dict[str, str]) -> None:
    page = open_page("anna", bypass_csp=True)
    for address in given.values():
        open_screen(page, address)
        page.wait_for_timeout(300)
        assert grave(page) == []
        page.set_viewport_size({"width": 320, "height": 720})
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.set_viewport_size({"width": 1280, "height": 720})


def test_a_long_passage_can_be_read_to_its_end(open_page: OpenPage, given: dict[str, str]) -> None:
    page = open_page("anna")
    open_screen(page, given["wasps"])
    page.wait_for_selector(".passage:not([hidden])")
    text = page.locator(".passage:not([hidden]) .reading")
    text.evaluate("element => element.textContent = element.textContent.repeat(200)")
    page.mouse.move(300, 400)
    page.mouse.wheel(0, 100_000)
    last = page.locator(".passage:not([hidden]) p:last-child")
    foot = page.locator(".keys-bar").bounding_box()
    assert foot
    until(page, lambda: (last.bounding_box() or foot)["y"] < foot["y"])


def test_what_the_server_puts_ahead_leaves_the_passage_on_screen(
    open_page: OpenPage, demo: Demo, given: dict[str, str]
) -> None:
    """A text that is loaded late opens a passage with the lowest place, while another one is on screen."""
    task = int(re.findall(r"\d+", given["wasps"])[0])
    lowest = """select item.docid from relevance_relevancejudgment item join work_task task
        on task.condition_id = item.condition_id and task.topic_id = item.topic_id where task.id = ? and position = 0"""
    with demo.database() as db:
        [late] = db.execute(lowest, [task]).fetchone()
        db.execute("update campaigns_segment set docid = 'hidden' where docid = ?", [late])
    db.close()
    page = open_page("anna", intercepts=True)
    open_screen(page, given["wasps"])
    with demo.database() as db:
        db.execute("update campaigns_segment set docid = ? where docid = 'hidden'", [late])
    db.close()
    page.route("**/judge/", lambda route: (page.wait_for_timeout(300), route.continue_())[1])
    graded = [press(page, "2") for _ in range(3)]  # of the five that are on the page: now few are left
    present = docid(page)
    until(page, lambda: page.locator(f".passage:has-text('{late}')").count() == 1)
    assert docid(page) == present != late
    assert press(page, "1") == present
    saved(page)
    assert said(demo, given["wasps"]) == [*((one, 2) for one in graded), (present, 1)]
    # One's own undo alone brings another one.
    for one in (present, graded[-1]):
        page.keyboard.press("u")
        until(page, lambda one=one: docid(page) == one)
        saved(page)


def test_an_undo_of_a_refused_grade_takes_back_no_other(open_page: OpenPage, demo: Demo, given: dict[str, str]) -> None:
    page = open_page("anna", intercepts=True)
    open_screen(page, given["ants"])
    first = press(page, "2")
    saved(page)
    page.context.set_offline(True)
    second = press(page, "3")
    page.keyboard.press("u")
    page.wait_for_selector("#saved[data-state=offline]")
    refusal = {"status": 410, "body": "Somebody else has it.", "headers": {"X-Assay-Write": "1"}}
    page.route("**/judge/", lambda route: route.fulfill(**refusal))
    page.context.set_offline(False)
    page.wait_for_selector("#refused:has-text('Somebody else has it.')")
    page.wait_for_timeout(300)
    assert docid(page) != first
    assert said(demo, given["ants"]) == [(first, 2)]
    assert "Undo" not in page.locator("#refused").text_content()
    page.click("text=Understood")
    saved(page)
    until(page, lambda: docid(page) is not None)
    page.unroute("**/judge/")
    # A forbidden undo is not kept for ever either; one that something else than Assay forbids waits.
    refusal = {"status": 403, "body": "no"}
    page.route("**/undo/", lambda route: route.fulfill(**refusal))
    page.keyboard.press("u")
    page.wait_for_selector("#saved[data-state=blocked]")
    refusal["headers"] = {"X-Assay-Write": "1"}
    page.wait_for_selector("#refused:has-text('be taken back any more')")
    page.click("text=Understood")
    saved(page)
    assert second != first


def test_the_end_of_a_topic_comes_though_it_was_not_answered_at_first(
    open_page: OpenPage, demo: Demo, given: dict[str, str]
) -> None:
    page = open_page("anna", intercepts=True)
    open_screen(page, given["ants"])
    while not (page.locator("#progress").text_content() or "").startswith("5 "):
        press(page, "1")
        saved(page)
    answers = [{"status": 503, "body": "later"}, {"status": 200, "body": "<h1>Welcome to the network</h1>"}]
    page.route("**/draw/", lambda route: route.fulfill(**answers.pop(0)) if answers else route.continue_())
    page.keyboard.press("0")
    page.wait_for_selector("#saved[data-state=unread]")
    assert len(said(demo, given["ants"])) >= 6
    for _ in range(2):  # the network's page, then the server's
        assert not page.locator("text=All 6 passages of this topic are judged.").is_visible()
        page.evaluate("window.dispatchEvent(new Event('online'))")
        page.wait_for_timeout(500)
    page.wait_for_selector("text=All 6 passages of this topic are judged.")
    assert answers == []
    saved(page)
