"""A bank of questions is written in a real browser: by keyboard, by mouse, and without a connection."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import against_rules
from tests.browser.conftest import MARKS, Demo, OpenPage, double_click, saved
from tests.browser.editors import open_editor, press, write
from tests.browser.test_pages import badly_named

pytestmark = MARKS


@pytest.fixture(scope="module")
def bank(demo: Demo) -> int:
    return int(demo.run("from tests.browser.world import give_questions; give_questions()").splitlines()[-1])


def questions(demo: Demo, bank: int) -> list[dict[str, Any]]:
    """Return the questions on the list as the database has them."""
    with demo.database() as db:
        db.row_factory = sqlite3.Row
        [[order]] = db.execute("select [order] from nuggets_nuggetbank where id = ?", [bank])
        found = [dict(row) for row in db.execute("select * from nuggets_nugget where bank_id = ?", [bank])]
    by_uid = {str(UUID(row["uid"])): row | {"gold": json.loads(row["gold"])} for row in found}
    return [by_uid[uid] for uid in json.loads(order)]


def gold(question: dict[str, Any]) -> list[str]:
    return [answer["text"] for answer in question["gold"]]


def row(page: Page, number: int) -> Locator:
    return page.locator(".nugget").nth(number - 1)


def answers(page: Page, number: int) -> list[str]:
    """Return the gold answers of a question as they are on screen."""
    fields = row(page, number).locator(".gold-answer textarea")
    found: list[str] = fields.evaluate_all("all => all.map((one) => one.value)")
    return found


def texts(page: Page) -> list[str]:
    found: list[str] = page.locator(".nugget textarea.text").evaluate_all("all => all.map((one) => one.value)")
    return found


def test_a_bank_is_written_by_keyboard_alone(open_page: OpenPage, demo: Demo, bank: int) -> None:
    page = open_page("anna")
    open_editor(page, bank)
    expect(page.locator(".first-steps")).to_contain_text("write a question that a good answer answers")
    press(page, "n")
    write(page, "Why do beavers build dams?")
    write(page, "How long are they?")
    write(page, "What are they made of")
    press(page, "Escape", "k", "k")

    # Gold answers one after another, and a reference for the last one: it is where the person is at.
    press(page, "a")
    write(page, "a pond that is deep enough")
    write(page, "protection from predators")
    press(page, "Escape")
    assert page.evaluate("document.activeElement.matches('.gold-answer')")
    press(page, "p", "j", "e")
    expect(page.locator("#hint")).to_contain_text("Reference of a gold answer of question 1: ¶1")
    press(page, "l")
    press(page, "e")
    expect(page.locator("#hint")).to_contain_text("Evidence of question 1: ¶1")
    saved(page)
    first = questions(demo, bank)[0]
    assert gold(first) == ["a pond that is deep enough", "protection from predators"]
    docid = page.locator(".passage").first.get_attribute("data-docid")
    assert [[one["docid"] for one in answer["references"]] for answer in first["gold"]] == [[], [docid]]
    assert [one["docid"] for one in json.loads(first["evidence"])] == [docid]
    assert first["gold"][1]["references"][0]["start"] == 0

    # All of them; what has one gold answer has no such choice.
    press(page, "b")
    expect(row(page, 1).locator("input[value=AND]")).to_be_checked()
    press(page, "j", "b")
    expect(page.locator("#hint")).to_have_text("Any or all: add a second gold answer first, with a.")
    assert row(page, 2).locator(".aggregator").is_hidden()

    # Parts of the question above.
    press(page, "Shift+>")
    expect(row(page, 2)).to_have_attribute("data-level", "2")
    press(page, "Shift+>")
    expect(page.locator("#hint")).to_have_text("There is no question above that this one could be a part of.")
    press(page, "j", ">", ">")
    assert page.locator(".nugget").evaluate_all("all => all.map((one) => one.dataset.level)") == ["1", "2", "3"]
    press(page, "<")
    saved(page)
    assert row(page, 3).get_attribute("aria-label") == (
        "Question 3, a part of question 1, neither vital nor okay: What are they made of"
    )
    uid = str(UUID(first["uid"]))
    assert [one["under"] and str(UUID(one["under"])) for one in questions(demo, bank)] == [None, uid, uid]
    expect(row(page, 3).locator(".question")).to_have_text("no question mark")
    expect(row(page, 3).locator(".question")).to_be_visible()
    assert row(page, 1).locator(".question").is_hidden()

    # A gold answer is reworded and removed where it has the focus, and comes back by undo.
    press(page, "l", "k", "k", "a")
    write(page, "food")
    press(page, "Escape", "r")
    write(page, " in winter")
    assert answers(page, 1)[2] == "food in winter"
    press(page, "d")
    assert answers(page, 1) == ["a pond that is deep enough", "protection from predators"]
    press(page, "Control+z")
    expect(row(page, 1).locator(".gold-answer")).to_have_count(3)
    assert answers(page, 1)[2] == "food in winter"
    press(page, "Control+z", "Control+z")
    expect(row(page, 1).locator(".gold-answer")).to_have_count(2)
    press(page, "Control+Shift+z", "Control+Shift+z")
    expect(row(page, 1).locator(".gold-answer")).to_have_count(3)
    saved(page)
    assert [answer["id"] for answer in questions(demo, bank)[0]["gold"]] == ["g1", "g2", "g3"]

    # A question takes along what is under it.
    press(page, "n")
    write(page, "Where do beavers live?")
    press(page, "Escape")
    press(page, "Alt+ArrowUp")
    assert texts(page)[0] == "Where do beavers live?"
    saved(page)
    assert [one["text"] for one in questions(demo, bank)] == texts(page)
    press(page, "Control+z")
    expect(row(page, 4).locator("textarea.text")).to_have_value("Where do beavers live?")
    saved(page)


def test_by_mouse_and_as_a_page(open_page: OpenPage, demo: Demo, bank: int) -> None:
    page = open_page("anna", viewport={"width": 1440, "height": 900})
    open_editor(page, bank)
    field = row(page, 4).locator("[data-field=gold_add]")
    field.click()
    page.keyboard.type("in rivers")
    page.locator("#nuggets-title").click()  # leaving the field adds it
    expect(row(page, 4).locator(".gold-answer")).to_have_count(1)
    field.click()
    page.keyboard.type("in lakes")
    page.keyboard.press("Enter")
    row(page, 4).locator("input[value=AND]").click()
    row(page, 4).locator(".gold-answer textarea").first.click()
    reading = page.locator(".passage .reading").first
    word = reading.text_content().split()[1].strip(".,")
    double_click(reading, word)
    page.locator("#selected").get_by_role("button", name="Evidence").click()
    chip = row(page, 4).locator(".gold-answer").first.locator("[data-act=where]")
    expect(chip).to_have_count(1)
    saved(page)
    last = questions(demo, bank)[3]
    assert (gold(last), last["aggregator"]) == (["in rivers", "in lakes"], "AND")
    assert [len(answer["references"]) for answer in last["gold"]] == [1, 0]
    page.locator("#passages").evaluate("panel => panel.scrollTo(0, 1000)")
    chip.click()
    assert page.evaluate("document.activeElement.matches('.passage')")
    row(page, 4).locator(".gold-answer").first.locator("[data-act=detach]").click()
    row(page, 4).locator(".gold-answer").last.locator("> .remove").click()
    saved(page)
    assert questions(demo, bank)[3]["gold"] == [{"id": "g1", "text": "in rivers", "references": [], "extras": {}}]
    page.get_by_role("button", name="Undo").click()
    expect(row(page, 4).locator(".gold-answer")).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(chip).to_have_count(1)
    row(page, 3).locator("textarea.text").click()
    page.locator(".keys-row").get_by_role("button", name="Indent").click()
    expect(row(page, 3)).to_have_attribute("data-level", "3")
    page.locator(".keys-row").get_by_role("button", name="Outdent").click()
    expect(row(page, 3)).to_have_attribute("data-level", "2")
    saved(page)
    for name, width, scheme in (("light", 1440, "light"), ("dark", 1440, "dark"), ("narrow", 390, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        row(page, 1).locator(".gold-answer textarea").first.click()
        if folder := os.environ.get("ASSAY_SHOTS"):
            page.screenshot(path=Path(folder) / f"questions-{name}.png")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_a_connection_and_after_a_reload(open_page: OpenPage, demo: Demo, bank: int) -> None:
    page = open_page("anna")
    open_editor(page, bank)
    page.context.set_offline(True)
    press(page, "n")
    write(page, "Who eats beavers?")
    press(page, "Escape", "a")
    write(page, "wolves")
    write(page, "bears")
    press(page, "Escape", "d")
    press(page, "a")
    write(page, "lynxes")
    press(page, "Escape", "Escape")
    press(page, "b", "p", "j", "e")
    press(page, "l", "v", "k", "x", "j", "x", "m")
    write(page, "Where do beavers live, and who eats them?")
    press(page, "s", "Enter")
    press(page, ">")
    page.wait_for_selector("#saved[data-state=offline]")
    on_screen = [(text, answers(page, number)) for number, text in enumerate(texts(page), start=1)]
    levels = page.locator(".nugget").evaluate_all("all => all.map((one) => one.dataset.level)")
    assert on_screen[3:] == [
        ("Where do beavers live", ["in rivers", "in lakes", "wolves", "lynxes"]),
        ("who eats them?", ["in rivers", "in lakes", "wolves", "lynxes"]),
    ]
    page.context.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")
    saved(page)
    assert [(one["text"], gold(one)) for one in questions(demo, bank)] == on_screen
    assert page.locator(".nugget").evaluate_all("all => all.map((one) => one.dataset.level)") == levels
    assert [(text, answers(page, number)) for number, text in enumerate(texts(page), start=1)] == on_screen

    # What was typed when the page was left is kept: a new gold answer is added, and a reworded one saved.
    page.on("dialog", lambda dialog: dialog.accept())
    for field, text in (("[data-field=gold_add]", "warmth"), ("[data-gold=g2] textarea", "shelter from wolves")):
        row(page, 1).locator(field).fill(text)
        page.reload()
        page.wait_for_selector("#main[data-ready]")
        saved(page)
    texts_of_first = gold(questions(demo, bank)[0])
    assert (texts_of_first[1], texts_of_first[-1]) == ("shelter from wolves", "warmth")


def test_what_another_tab_did_is_shown_and_it_is_finished(open_page: OpenPage, demo: Demo, bank: int) -> None:
    page = open_page("anna", bypass_csp=True)  # axe is put into the page
    open_editor(page, bank)
    other = page.context.new_page()
    open_editor(other, bank)
    press(other, "l", "v")
    saved(other)
    press(page, "l", "a")
    write(page, "pride")
    expect(page.locator("#refused")).to_contain_text("Add a gold answer to question 1: “pride”")
    page.get_by_role("button", name="Keep mine").click()
    saved(page)
    assert gold(questions(demo, bank)[0])[-1] == "pride"
    other.close()

    assert against_rules(page) + badly_named(page) == []
    press(page, "l")
    for _ in texts(page):
        press(page, "v", "j")
    press(page, "f")
    page.wait_for_selector("#finish[open]")
    expect(page.locator("#finish")).to_contain_text("5 questions: 5 vital, 0 okay. 2 without a question mark.")
    press(page, "Enter")
    page.wait_for_selector("text=the questions are handed in")
    page.goto(f"/nuggets/{bank}/")
    expect(row(page, 1).locator(".gold-answer").nth(1)).to_contain_text("shelter from wolves")
    assert against_rules(page) + badly_named(page) == []
