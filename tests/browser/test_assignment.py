"""The blind screen with the keyboard alone: labels, a lost connection, two tabs, nuggets that change, signing off."""

import json
import re

import pytest
from playwright.sync_api import Page, Route

from tests.browser.axe import grave
from tests.browser.conftest import MARKS, Demo, OpenPage, saved, until
from tests.browser.tasks import FACTS, finish

pytestmark = MARKS

LABEL = {"1": "support", "2": "partial_support", "3": "not_support"}


@pytest.fixture
def given(tasks: dict[str, dict[str, str]]) -> str:
    """The address of Anna's work: she made the nuggets, the organizer gave her their assignment."""
    return tasks["assignment"]["anna"]


def task(address: str) -> int:
    return int(re.findall(r"\d+", address)[0])


def open_screen(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("#main[data-ready]")
    page.wait_for_selector(".answer:not([hidden])")


def sheet(page: Page) -> int:
    """Return which answer is on screen, by the key of its sheet."""
    return int(str(page.locator(".answer:not([hidden])").get_attribute("data-sheet")))


def stands(demo: Demo, key: int) -> dict[str, str]:
    """Return the labels of an answer as the database has them, by the nuggets' texts."""
    with demo.database() as db:
        texts = dict(db.execute("select id, text from nuggets_nugget where bank_id = ?", [demo.bank(1)]))
        query = "select nugget_id, value from assignment_assignment where sheet_id = ? and state = 'given'"
        return {texts[nugget]: label for nugget, label in db.execute(query, [key])}


def revisions(demo: Demo, key: int) -> list[str]:
    """Return what was done on an answer, in order."""
    with demo.database() as db:
        rows = db.execute(
            "select distinct version, verb from assignment_labelevent where sheet_id = ? order by version", [key]
        )
        return [verb for _, verb in rows]


def pressed(page: Page) -> list[str]:
    """Return the labels on screen, nugget by nugget; "" where there is none."""
    script = """rows => rows.map(row => row.querySelector("[aria-pressed=true]")?.dataset.label || "")"""
    return page.locator(".fact:not([hidden])").evaluate_all(script)


def current(page: Page) -> str | None:
    return page.evaluate("document.querySelector('.fact[aria-current] .text')?.textContent")


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def enter(page: Page) -> int:
    """Go to the next answer with Enter; return which it is."""
    before = sheet(page)
    page.keyboard.press("Enter")
    until(page, lambda: page.locator(".answer:not([hidden])").count() == 1 and sheet(page) != before)
    return sheet(page)


def test_a_whole_answer_by_keyboard_with_the_connection_lost_half_way(
    open_page: OpenPage, demo: Demo, given: str
) -> None:
    page = open_page("anna")
    page.goto("/")
    requests: list[str] = []
    sizes: list[tuple[str, int]] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on(
        "requestfinished", lambda request: sizes.append((request.resource_type, request.sizes()["responseBodySize"]))
    )
    open_screen(page, given)
    page.wait_for_load_state("networkidle")
    assert len(requests) <= 12, requests
    assert 0 < sum(size for kind, size in sizes if kind in ("script", "stylesheet")) <= 100_000
    assert page.locator("#progress").text_content() == "Answer 1 of 8 · 0 done"
    assert (current(page), pressed(page)) == (FACTS[0], [""] * 4)
    # One Tab from the fresh page stands the first choice; a key alone does it as well.
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.label") == "support"

    first = sheet(page)
    press(page, "12")
    saved(page)
    assert stands(demo, first) == {FACTS[0]: "support", FACTS[1]: "partial_support"}
    page.context.set_offline(True)
    press(page, "31")
    page.wait_for_selector("#saved[data-state=offline]:has-text('2 changes kept in this browser')")
    assert len(stands(demo, first)) == 2
    # The next answers are there already.
    assert page.locator("#progress").text_content() == "Answer 1 of 8 · 1 done"
    second = enter(page)
    press(page, "3333")
    third = enter(page)
    press(page, "2")
    page.wait_for_timeout(300)
    assert stands(demo, second) == stands(demo, third) == {}
    page.context.set_offline(False)
    saved(page)
    labels = ["support", "partial_support", "not_support", "support"]
    assert stands(demo, first) == dict(zip(FACTS, labels, strict=True))
    assert stands(demo, second) == dict.fromkeys(FACTS, "not_support")
    assert stands(demo, third) == {FACTS[0]: "partial_support"}
    for key, count in ((first, 4), (second, 4), (third, 1)):
        assert revisions(demo, key) == ["label"] * count
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    until(page, lambda: page.locator(".answer:not([hidden])").count() == 1)
    assert (sheet(page), current(page)) == (third, FACTS[1]), "where she left it"


def test_a_lost_answer_is_asked_for_again_and_counts_once(open_page: OpenPage, demo: Demo, given: str) -> None:
    page = open_page("anna", intercepts=True)
    open_screen(page, given)
    key, lost = sheet(page), []

    def lose_the_first_answer(route: Route) -> None:
        lost.append(route.request.post_data or "")
        route.fetch()
        if len(lost) == 1:
            route.abort()
        else:
            route.continue_()

    page.route("**/label/", lose_the_first_answer)
    press(page, "1")
    saved(page)
    assert len(lost) == 2
    assert lost[0] == lost[1]
    assert stands(demo, key) == {FACTS[0]: "partial_support", FACTS[1]: "support"}
    assert revisions(demo, key) == ["label", "label"]


def test_undo_takes_back_what_this_tab_did_also_after_a_reload(open_page: OpenPage, demo: Demo, given: str) -> None:
    page = open_page("anna")
    open_screen(page, given)
    third = sheet(page)
    press(page, "32")
    saved(page)
    fourth = enter(page)
    press(page, "1")
    press(page, "k1")  # the same again is no change
    press(page, "k2")
    saved(page)
    assert stands(demo, fourth) == {FACTS[0]: "partial_support"}
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    press(page, "u")
    until(page, lambda: pressed(page)[0] == "support")
    press(page, "u")
    until(page, lambda: pressed(page)[0] == "")
    assert (sheet(page), current(page)) == (fourth, FACTS[0])
    press(page, "u")
    until(page, lambda: sheet(page) == third)
    assert (current(page), pressed(page)[3]) == (FACTS[3], "")
    saved(page)
    assert stands(demo, fourth) == {}
    assert revisions(demo, fourth) == ["label", "label", "label", "take back"]
    assert FACTS[3] not in stands(demo, third)
    press(page, "2")
    saved(page)


def test_flags_reasons_marks_and_later(open_page: OpenPage, demo: Demo, given: str) -> None:
    page = open_page("anna")
    open_screen(page, given)
    key = sheet(page)
    press(page, "f")
    page.keyboard.type("1 is this <b>meant</b>?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".fact[aria-current] .told:has-text('flag 1 is this <b>meant</b>?')")
    assert pressed(page) == [""] * 4, "keys don't label while typing"
    press(page, "m")
    page.wait_for_selector("#hint:has-text('Select words of the answer first')")
    press(page, "]m")
    page.wait_for_selector(".fact[aria-current] .told .marked")
    sentence = page.locator(".answer:not([hidden]) .reading").first.text_content()
    assert page.locator(".fact[aria-current] .marked").text_content() == f"“{sentence}”"
    press(page, "x")
    page.keyboard.press("Enter")
    assert page.locator("#cannot[open]").count() == 1, "a reason is needed"
    page.keyboard.type("breaks off")
    page.keyboard.press("Enter")
    until(page, lambda: current(page) == FACTS[1])
    saved(page)
    with demo.database() as db:
        query = "select reason, flag, marks from assignment_assignment where sheet_id = ? order by id"
        reasons, flags, marks = zip(*db.execute(query, [key]), strict=True)
    assert list(filter(None, reasons)) == ["breaks off"]
    assert list(filter(None, flags)) == ["1 is this <b>meant</b>?"]
    assert [json.loads(text) for text in marks if text] == [[[0, 0, len(sentence)]]]
    press(page, "l")
    until(page, lambda: sheet(page) != key)
    other = sheet(page)
    saved(page)
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    until(page, lambda: sheet(page) == other)
    press(page, "u")
    until(page, lambda: sheet(page) == key)
    press(page, "uu")  # the reason, then the marks
    until(page, lambda: page.locator(".fact[aria-current] .marked").count() == 0)
    saved(page)
    assert revisions(demo, key)[-6:] == ["mark", "can't judge", "put off", "put off", "take back", "mark"]
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    until(page, lambda: sheet(page) == key)


def test_marks_count_characters_as_the_server_does(open_page: OpenPage, demo: Demo, given: str) -> None:
    """A letter outside of the basic plane is one character there and two units here."""
    page = open_page("anna")
    open_screen(page, given)
    key = sheet(page)
    with demo.database() as db:
        [[answer, content]] = db.execute(
            "select a.id, content from campaigns_answer a join assignment_answersheet s on s.answer_id = a.id"
            " where s.id = ?",
            [key],
        )
        texts = json.loads(content)
        texts[0]["text"] = "😀😀 purring heals"
        db.execute("update campaigns_answer set content = ? where id = ?", [json.dumps(texts), answer])
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    until(page, lambda: sheet(page) == key)
    page.evaluate(
        """() => {
          const text = document.querySelector(".answer:not([hidden]) .reading").firstChild;
          document.getSelection().setBaseAndExtent(text, 4, text, 12);
        }"""
    )
    press(page, "m")
    saved(page)
    with demo.database() as db:
        query = "select marks from assignment_assignment where sheet_id = ? and marks is not null"
        [[marks]] = db.execute(query, [key])
    assert json.loads(marks) == [[0, 3, 10]]
    assert page.locator(".fact[aria-current] .marked").text_content() == "“purring”"
    press(page, "u")
    saved(page)


def test_two_tabs_on_one_answer_show_both_labels_and_others_are_no_conflict(
    open_page: OpenPage, demo: Demo, given: str
) -> None:
    first = open_page("anna")
    open_screen(first, given)
    key = sheet(first)
    second = first.context.new_page()
    open_screen(second, given)
    press(first, "1")
    saved(first)
    second.context.set_offline(True)
    press(second, "3")
    second.keyboard.press("n")
    until(second, lambda: sheet(second) != key)
    elsewhere = sheet(second)
    press(second, "2")
    second.context.set_offline(False)
    second.wait_for_selector("#refused")
    told = second.locator("#refused").text_content()
    assert f"“{FACTS[0]}”: not_support" in told
    assert "It now says: support" in told
    until(second, lambda: stands(demo, elsewhere).get(FACTS[0]) == "partial_support")
    second.click("text=Keep mine")
    saved(second)
    assert stands(demo, key)[FACTS[0]] == "not_support"
    press(second, "u")
    saved(second)
    assert FACTS[0] not in stands(demo, elsewhere)
    second.close()


def test_one_nugget_across_the_answers_and_back(open_page: OpenPage, given: str) -> None:
    page = open_page("anna", bypass_csp=True)
    open_screen(page, given)
    here = sheet(page)
    press(page, "o")
    page.wait_for_selector("#across[open] li")
    assert page.locator("#across li").count() >= 3
    assert grave(page) == []
    link = page.locator("#across a").first
    there = int(str(link.get_attribute("data-sheet")))
    link.press("Enter")
    page.wait_for_selector("#across[open]", state="detached")
    until(page, lambda: sheet(page) == there)
    assert there != here
    assert pressed(page)[0] == "support"


def test_the_screen_is_accessible_and_does_not_scroll_sideways(open_page: OpenPage, given: str) -> None:
    page = open_page("anna", bypass_csp=True)
    open_screen(page, given)
    press(page, "12")
    assert grave(page) == []
    for key, dialog in (("f", "flag"), ("x", "cannot"), ("?", "keys"), ("g", "guidelines")):
        page.keyboard.press(key)
        page.wait_for_selector(f"#{dialog}[open]")
        assert grave(page, "dialog[open]") == []
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog[open]", state="detached")
    page.set_viewport_size({"width": 320, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    press(page, "uu")
    saved(page)


def test_an_organizer_looks_on(open_page: OpenPage, given: str) -> None:
    page = open_page("olga", bypass_csp=True)
    page.goto(given)
    page.wait_for_selector("text=Read-only view of what anna said under Manual/Manual")
    assert page.locator("td:text-is('partial_support')").count() >= 1
    assert grave(page) == []
    page.set_viewport_size({"width": 320, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_labels_are_given_in_german(open_page: OpenPage, demo: Demo, given: str) -> None:
    page = open_page("anna", locale="de-DE")
    open_screen(page, given)
    assert page.locator("html").get_attribute("lang") == "de"
    assert re.fullmatch(r"Antwort \d von 8 · \d erledigt", page.locator("#progress").text_content() or "")
    shown, at = sheet(page), pressed(page).index("")
    press(page, "2")
    page.wait_for_selector("#saved[data-state=saved]:text-is('Gespeichert')")
    assert list(stands(demo, shown).values()).count("partial_support") >= 1
    assert pressed(page)[at] == "partial_support"
    page.keyboard.press("?")
    keys = page.locator("#keys-text li").all_text_contents()
    assert "Nugget: partial_support2" in keys
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    page.wait_for_selector("#saved[data-state=saved]:text-is('Gespeichert')")
    assert pressed(page)[at] == ""


def test_reopened_nuggets_have_only_what_changed_done_again(open_page: OpenPage, demo: Demo, given: str) -> None:
    page = open_page("anna", bypass_csp=True)
    open_screen(page, given)
    while True:
        press(page, "1" * pressed(page).count(""))
        if page.locator("[data-act=signOff]").is_visible():
            break
        enter(page)
    saved(page)
    assert page.locator("#progress").text_content().endswith("8 done")
    with demo.database() as db:
        rows = db.execute("select id from assignment_answersheet where task_id = ? order by id", [task(given)])
        keys = [key for [key] in rows]
    before = {key: stands(demo, key) for key in keys}
    done = {key: len(revisions(demo, key)) for key in keys}
    assert {len(labels) for labels in before.values()} == {4}

    olga = open_page("olga")
    olga.goto(f"/nuggets/{demo.bank(1)}/")
    olga.click("summary:text('Reopen')")
    olga.fill("[name=reason]", "one is unclear")
    olga.click("button:text('Reopen')")
    olga.wait_for_selector("text=Reopened")
    page.keyboard.press("j")
    press(page, "3")
    page.wait_for_selector("#closed:has-text('The nuggets of this topic are being changed.')")
    assert "Not saved" in page.locator("#refused").text_content()
    page.click("text=Understood")
    page.reload()
    page.wait_for_selector("#closed:has-text('What you said is kept')")
    assert page.locator(".fact [data-label]:not([disabled])").count() == 0
    assert grave(page) == []

    page.click("text=Go on with the nuggets")
    page.wait_for_selector("#main[data-ready]")
    press(page, "j")
    page.keyboard.press("r")
    page.keyboard.press("End")
    page.keyboard.type(" of winter")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    saved(page)
    finish(page)

    changed = next(fact for fact in FACTS if fact not in texts(demo))
    open_screen(page, given)
    assert page.locator("#progress").text_content().endswith("0 done")
    assert (current(page), pressed(page).count("")) == (f"{changed} of winter", 1)
    told = page.locator(".fact[aria-current] .told")
    assert told.locator(".chip").text_content() == f"was: {before[sheet(page)][changed]}, on an older text"
    assert told.locator("ins").text_content() == "of winter"
    assert grave(page) == []
    for number in range(len(keys)):
        press(page, "3")
        assert current(page) == f"{changed} of winter"
        if number < len(keys) - 1:
            enter(page)
    saved(page)
    after = {key: stands(demo, key) for key in keys}
    new = {f"{changed} of winter": "not_support"}
    assert after == {
        key: {fact: label for fact, label in labels.items() if fact != changed} | new for key, labels in before.items()
    }
    assert [revisions(demo, key)[done[key] :] for key in keys] == [["nuggets changed", "label"]] * len(keys)


def texts(demo: Demo) -> list[str]:
    with demo.database() as db:
        return [text for [text] in db.execute("select text from nuggets_nugget where bank_id = ?", [demo.bank(1)])]


def test_signed_off_it_can_be_read_and_no_longer_changed(open_page: OpenPage, demo: Demo, given: str) -> None:
    page = open_page("anna")
    open_screen(page, given)
    other = page.context.new_page()
    open_screen(other, given)
    press(page, "s")
    page.wait_for_selector("#ending[open]")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Signed off: your labels of this topic can be read")
    press(other, "2")
    other.wait_for_selector("#closed:has-text('This topic is signed off')")
    assert "support" in other.locator("#refused").text_content()
    with demo.database() as db:
        [row] = db.execute("select state, done, total from work_task where id = ?", [task(given)]).fetchall()
    assert row == ("finished", 8, 8)
    open_screen(page, given)
    assert "This topic is signed off" in page.locator("#closed").text_content()
    before = sheet(page)
    enter(page)
    assert sheet(page) != before
    press(page, "123lu")
    page.wait_for_timeout(300)
    assert page.locator("#saved").text_content() == "Saved"
