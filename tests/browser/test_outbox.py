"""The outbox: a lost connection, a lost answer, two tabs, a sign-out; nothing typed is lost, nothing is doubled."""

from contextlib import suppress

from playwright.sync_api import Error, Page, Route

from tests.browser.conftest import MARKS, Demo, OpenPage, saved, until
from tests.browser.editors import open_editor, write
from tests.browser.test_faults import texts

pytestmark = MARKS


def fields(page: Page) -> list[str]:
    return page.locator(".nugget textarea.text").evaluate_all("fields => fields.map(field => field.value)")


def sign_in_again(page: Page, name: str) -> None:
    page.fill("#id_username", name)
    page.fill("#id_password", "demo-password")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Home')")


def test_a_lost_connection_sends_everything_later_once_and_in_order(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(1))
    page.context.set_offline(True)
    page.keyboard.press("n")
    for number in range(10):
        write(page, f"Offline {number}")
    page.wait_for_selector("#saved[data-state=offline]")
    assert texts(demo, 1) == []
    page.context.set_offline(False)
    saved(page)
    assert texts(demo, 1) == [f"Offline {number}" for number in range(10)]


def test_a_lost_answer_does_not_double_the_change(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna", intercepts=True)
    open_editor(page, demo.bank(2))
    lost: list[str] = []

    def lose_the_first_answer(route: Route) -> None:
        route.fetch()
        lost.append(route.request.post_data or "")
        if len(lost) == 1:
            route.abort()
        else:
            route.continue_()

    page.route("**/add/", lose_the_first_answer)
    page.keyboard.press("n")
    write(page, "Said once")
    saved(page)
    assert len(lost) == 2
    assert lost[0] == lost[1]  # the same key, the same version
    assert texts(demo, 2) == ["Said once"]


def hold_the_first_add(page: Page) -> list[Route]:
    """Add a nugget whose request waits for the test; return its route."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if held:
            route.continue_()
        held.append(route)

    page.route("**/add/", hold)
    page.keyboard.press("n")
    write(page, "On its way")
    until(page, lambda: held)
    return held


def test_a_page_made_before_a_change_was_saved_hears_of_it_when_it_opens(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna", intercepts=True)
    open_editor(page, demo.bank(1))
    held = hold_the_first_add(page)

    def save_meanwhile(route: Route) -> None:
        made_before = route.fetch()
        held[0].fulfill(response=held[0].fetch())
        page.wait_for_timeout(500)  # for the page that is left to hear of it
        route.fulfill(response=made_before)

    page.route(f"**/nuggets/{demo.bank(1)}/", save_meanwhile)
    page.reload()
    saved(page)
    assert fields(page)[-1:] == ["On its way"]
    page.keyboard.press("n")
    write(page, "After it")
    saved(page)
    assert texts(demo, 1)[-2:] == ["On its way", "After it"]


def test_who_stays_on_a_page_after_all_has_it_saved(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna", intercepts=True)
    open_editor(page, demo.bank(2))
    before = texts(demo, 2)
    held = hold_the_first_add(page)
    page.once("dialog", lambda dialog: dialog.dismiss())
    with suppress(Error):  # the navigation is given up
        page.goto("/", timeout=3_000)
    assert page.url.endswith(f"/nuggets/{demo.bank(2)}/")
    held[0].continue_()
    page.wait_for_selector("#saved[data-state=saved]:text-is('Saved')", timeout=20_000)
    assert texts(demo, 2) == [*before, "On its way"]


def test_two_tabs_on_one_nugget_show_both_versions(open_page: OpenPage, demo: Demo) -> None:
    first = open_page("anna")
    open_editor(first, demo.bank(3))
    first.keyboard.press("n")
    write(first, "As it was")
    saved(first)
    second = first.context.new_page()
    open_editor(second, demo.bank(3))

    def reword(page: Page, text: str) -> None:
        page.locator(".nugget textarea.text").first.fill(text)
        page.locator(".nugget textarea.text").first.press("Enter")

    reword(first, "The first tab's words")
    saved(first)
    reword(second, "The second tab's words")
    second.wait_for_selector("#refused")
    said = second.locator("#refused").text_content()
    assert "Reword nugget 1 to: “The second tab's words”" in said
    assert "It now says: “The first tab's words”" in said
    assert texts(demo, 3) == ["The first tab's words"]
    second.reload()  # the question is still there
    second.wait_for_selector("#refused >> text=The second tab's words")
    second.click("text=Keep mine")
    saved(second)
    assert texts(demo, 3) == ["The second tab's words"]

    reword(first, "Once more the first")
    first.wait_for_selector("#refused")
    first.click("text=Keep what is there")
    saved(first)
    assert fields(first) == ["The second tab's words"]
    assert texts(demo, 3) == ["The second tab's words"]


def test_signed_out_meanwhile_keeps_the_change_until_signed_in_again(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("ben")
    open_editor(page, demo.bank(4))
    other = page.context.new_page()
    other.goto("/")
    other.click("text=Sign out")
    other.wait_for_selector("h1:text('Sign in')")
    page.keyboard.press("n")
    write(page, "Typed while signed out")
    page.wait_for_selector("#saved[data-state=blocked]")
    assert "you are signed out. 1 change kept in this browser." in page.locator("#saved").text_content()
    assert texts(demo, 4) == []
    with page.context.expect_page() as tab:
        page.click(".mend:text-is('Sign in in a new tab')")
    sign_in_again(tab.value, "ben")
    page.wait_for_selector("#saved[data-state=saved]:text-is('Saved')", timeout=5_000)
    assert texts(demo, 4) == ["Typed while signed out"]


def test_a_lost_cookie_is_told_apart_from_a_lost_right(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("ben")
    open_editor(page, demo.bank(4))
    before = texts(demo, 4)
    page.context.clear_cookies(name="csrftoken")
    page.keyboard.press("n")
    write(page, "Typed without the cookie")
    page.wait_for_selector("#saved[data-state=blocked]")
    words = str(page.locator("#saved").text_content())
    assert "lost the cookie that lets the page save. 1 change kept" in words
    assert "you may not do this" not in words
    with page.context.expect_page() as tab:
        page.click(".mend:text-is('Open Assay in a new tab')")
    tab.value.wait_for_selector("h1:text('Home')")
    page.wait_for_selector("#saved[data-state=saved]:text-is('Saved')", timeout=5_000)
    assert texts(demo, 4) == [*before, "Typed without the cookie"]


def test_a_closed_tab_leaves_its_changes_to_the_next_one(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("ben")
    open_editor(page, demo.bank(5))
    context = page.context
    context.set_offline(True)
    page.keyboard.press("n")
    write(page, "From a tab that was closed")
    page.wait_for_selector("#saved[data-state=offline]")
    page.close()
    context.set_offline(False)
    again = context.new_page()
    open_editor(again, demo.bank(5))
    saved(again)
    assert fields(again) == ["From a tab that was closed"]
    assert texts(demo, 5) == ["From a tab that was closed"]


def test_active_time_is_measured_and_shown(open_page: OpenPage, demo: Demo) -> None:
    def reports() -> list[int]:
        with demo.database() as db:
            rows = db.execute(
                "select seconds from work_timespent t join nuggets_nuggetbank b using (task_id) where b.id = ?",
                [demo.bank(1)],
            )
            return [seconds for [seconds] in rows]

    page = open_page("anna")
    page.clock.install()
    open_editor(page, demo.bank(1))
    before = reports()
    for _ in range(2):
        with page.expect_response("**/time/") as answer:
            for _ in range(31):
                page.keyboard.press("j")
                page.clock.run_for(1000)
        assert answer.value.request.post_data.endswith("&seconds=30")
    page.wait_for_selector("#time:text('min')")
    _, counted = reports()[len(before) :]
    assert 1 <= counted < 30  # the browser's clock ran faster than the server's: no more than passed since the first


def test_what_another_tab_saved_before_an_answer_was_lost_is_not_overwritten(open_page: OpenPage, demo: Demo) -> None:
    """The answer to a change sent again must not pass the other tab's version on to the next change."""
    first = open_page("ben", intercepts=True)
    open_editor(first, demo.bank(4))
    first.keyboard.press("n")
    write(first, "As it was")
    saved(first)
    second = first.context.new_page()
    row = first.locator(".nugget").last

    def lose(route: Route) -> None:
        route.fetch()
        with suppress(Error):  # it may be taken off meanwhile
            route.abort()

    first.route("**/importance/", lose)
    row.locator("input[value=vital]").check(force=True)
    first.wait_for_selector("#saved[data-state=offline]")
    row.locator("textarea.text").fill("Words of the first tab")
    row.locator("textarea.text").press("Enter")
    open_editor(second, demo.bank(4))
    second.locator(".nugget textarea.text").last.fill("Words of the second tab")
    second.locator(".nugget textarea.text").last.press("Enter")
    saved(second)
    first.unroute("**/importance/")
    first.wait_for_selector("#refused", timeout=120_000)
    assert "It now says: “Words of the second tab”" in first.locator("#refused").text_content()
    assert texts(demo, 4)[-1] == "Words of the second tab"


def test_finished_in_another_tab_shows_what_was_not_saved(open_page: OpenPage, demo: Demo) -> None:
    first = open_page("ben")
    open_editor(first, demo.bank(5))
    second = first.context.new_page()
    open_editor(second, demo.bank(5))
    for nugget in second.locator(".nugget").all():
        nugget.locator("input[value=okay]").check(force=True)
    second.keyboard.press("n")
    write(second, "One to finish with")
    second.keyboard.press("Escape")
    second.keyboard.press("o")
    saved(second)
    second.keyboard.press("f")
    second.wait_for_selector("#finish[open]")
    second.keyboard.press("Enter")
    second.wait_for_selector("h1:text('Home')")
    first.keyboard.press("n")
    write(first, "Too late")
    first.wait_for_selector("#refused >> text=Add: “Too late”")
    assert "Finished, read-only" in first.locator("header.bar").text_content()
    first.click("text=Understood")
    first.reload()
    assert first.locator("#refused").count() == 0
    assert "Too late" not in texts(demo, 5)


def test_typing_goes_on_while_the_server_is_slow(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna", intercepts=True)
    open_editor(page, demo.bank(2))
    page.route(f"**/nuggets/{demo.bank(2)}/**", lambda route: (page.wait_for_timeout(400), route.continue_()))
    page.keyboard.press("n")
    write(page, "slow one")
    write(page, "slow two")
    page.keyboard.type("slow thr")
    page.wait_for_timeout(1500)
    page.keyboard.type("ee")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.keyboard.press("End")
    page.keyboard.type(" and")
    page.wait_for_timeout(3500)  # the pause in typing saves
    page.keyboard.type(" more")
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.type("!")
    page.keyboard.press("Enter")
    saved(page)
    assert texts(demo, 2)[-3:] == ["slow one", "slow three and more!", "slow two"]
