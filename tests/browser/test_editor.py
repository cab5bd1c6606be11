"""The nugget editor in full: spans, search, merging, splitting, notes, dragging, reopening, in a real browser."""

import json
import re
import sqlite3
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import MARKS, Demo, OpenPage, double_click, saved
from tests.browser.editors import open_editor, press, write

pytestmark = MARKS


def rows(demo: Demo, number: int) -> list[dict[str, Any]]:
    """Return the nuggets on the list of demo-`number`, in order, as the database has them."""
    bank = demo.bank(number)
    with demo.database() as db:
        db.row_factory = sqlite3.Row
        [[order]] = db.execute("select [order] from nuggets_nuggetbank where id = ?", [bank])
        found = db.execute("select * from nuggets_nugget where bank_id = ?", [bank])
        by_uid = {str(UUID(row["uid"])): dict(row) for row in found}
    for row in by_uid.values():
        row["evidence"] = json.loads(row["evidence"])
        row["made_from"] = [by_uid[parent]["text"] for parent in json.loads(row["parents"])]
    return [by_uid[uid] for uid in json.loads(order)]


def shown(page: Page) -> list[str]:
    return page.locator(".nugget textarea.text").evaluate_all("fields => fields.map(field => field.value)")


def passage_text(demo: Demo, docid: str) -> str:
    with demo.database() as db:
        [[text]] = db.execute("select text from campaigns_segment where docid = ?", [docid])
    return text


def quoted(demo: Demo, evidence: dict[str, Any]) -> str:
    return passage_text(demo, evidence["docid"])[evidence["start"] : evidence["end"]]


def selected(page: Page) -> str:
    return page.evaluate("getSelection().toString()")


def test_a_bank_with_spans_merged_split_and_undone_by_keyboard_alone(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(1))

    # j takes one sentence more, k one less, Shift+J the next one alone.
    press(page, "p", "j")
    first = selected(page)
    press(page, "j")
    assert selected(page).startswith(first + " ")
    press(page, "k")
    assert selected(page) == first
    press(page, "Shift+J")
    second = selected(page)
    assert second
    assert not second.startswith(first)
    press(page, "j")
    both = selected(page)
    press(page, "n")
    assert page.input_value("#new-text") == both  # ready to be typed over
    write(page, "Two sentences say this and that")
    write(page, "No passage says this")
    press(page, "Escape")  # to the list, at the new nugget
    saved(page)
    docid = page.locator(".passage").first.get_attribute("data-docid")
    [one, other] = rows(demo, 1)
    assert one["evidence"] == [{"docid": docid, "start": len(first) + 1, "end": len(first) + 1 + len(both)}]
    assert quoted(demo, one["evidence"][0]) == both
    assert other["evidence"] == []

    # Evidence for the nugget that is there: from the next passage, then once more from its second sentence.
    press(page, "p", "p", "j", "e", "Shift+J", "e")
    saved(page)
    evidence = rows(demo, 1)[1]["evidence"]
    next_docid = page.locator(".passage").nth(1).get_attribute("data-docid")
    assert [item["docid"] for item in evidence] == [next_docid, next_docid]
    sentences = [quoted(demo, item) for item in evidence]
    assert passage_text(demo, next_docid).startswith(" ".join(sentences))

    # Merge both, split the first half off again; undo of both after a reload.
    press(page, "l", "x", "k", "x", "m")
    assert page.evaluate("document.activeElement.value") == ("Two sentences say this and that; No passage says this")
    write(page, "Both of these in one")
    saved(page)
    [merged] = rows(demo, 1)
    assert (merged["origin"], merged["made_from"]) == ("merged", [one["text"], other["text"]])
    assert merged["evidence"] == one["evidence"] + evidence
    press(page, "s", "Enter")
    saved(page)
    halves = rows(demo, 1)
    assert [(row["text"], row["origin"], row["made_from"]) for row in halves] == [
        ("Both of these", "split", ["Both of these in one"]),
        ("in one", "split", ["Both of these in one"]),
    ]
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    press(page, "Control+z")
    expect(page.locator(".nugget")).to_have_count(1)
    press(page, "Control+z", "Control+z")  # the rewording, the merge
    expect(page.locator(".nugget")).to_have_count(2)
    saved(page)
    assert [(row["id"], row["evidence"]) for row in rows(demo, 1)] == [
        (one["id"], one["evidence"]),
        (other["id"], evidence),
    ]
    for _ in range(3):
        press(page, "Control+Shift+z")
    saved(page)
    assert [row["id"] for row in rows(demo, 1)] == [row["id"] for row in halves]

    # Finish, by what it says is missing.
    press(page, "f")
    page.wait_for_selector("text=Nugget 1 is neither vital nor okay yet.")
    press(page, "v", "j", "o", "f")
    page.wait_for_selector("#finish[open] >> text=2 nuggets: 1 vital, 1 okay.")
    press(page, "Enter")
    page.wait_for_selector("text=the nuggets are handed in")


def test_an_organizer_reopens_and_the_maker_sees_why(open_page: OpenPage, demo: Demo) -> None:
    organizer = open_page("olga")
    organizer.goto(f"/nuggets/{demo.bank(1)}/")
    organizer.click("summary:text('Lineage')")
    told = organizer.locator(".lineage").text_content()
    assert "Both of these: split from another" in " ".join(told.split())
    assert "Both of these in one (from: Two sentences say this and that; No passage says this)" in told
    organizer.click("summary:text('Reopen')")
    organizer.fill("#reason", "The second one is two facts")
    organizer.click("button:text('Reopen')")
    organizer.wait_for_selector("text=finds the topic among their open work")
    page = open_page("anna")
    open_editor(page, demo.bank(1))
    assert page.locator(".message.warning").text_content() == "Reopened by olga: The second one is two facts"
    press(page, "j", "j", "r")
    press(page, "Control+a")
    write(page, "These two in one")
    saved(page)
    press(page, "f", "Enter")
    page.wait_for_selector("text=the nuggets are handed in")
    with demo.database() as db:
        [[changed]] = db.execute(
            "select consequences from nuggets_bankedition where bank_id = ? and edition = 2", [demo.bank(1)]
        )
    stale = str(UUID(rows(demo, 1)[1]["uid"]))
    assert json.loads(changed) == {"stale": [stale], "missing": [], "gone": [], "rescored": []}


def test_ten_changes_without_a_connection_are_there_once_and_in_order(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(2))
    press(page, "n")
    for text in ("alpha", "beta and gamma", "delta", "epsilon"):
        write(page, text)
    press(page, "Escape")
    saved(page)
    before = page.locator("#nugget-list").get_attribute("data-version")

    page.context.set_offline(True)
    press(page, "o")  # 1: epsilon is okay
    press(page, "c")
    write(page, "doubtful")  # 2: its note
    press(page, "p", "j", "e")  # 3: its evidence
    press(page, "h")  # 4: the passage is read
    press(page, "l", "k", "k", "s", "Enter")  # 5: beta | gamma
    press(page, "Alt+ArrowUp")  # 6: beta to the front
    press(page, "x", "j", "x", "m", "Enter")  # 7: beta; alpha
    press(page, "j", "d")  # 8: without gamma
    press(page, "t")
    write(page, "letters, in order")  # 9: the reading
    press(page, "n")
    write(page, "zeta")  # 10
    page.wait_for_selector("#saved[data-state=offline]")
    on_screen = shown(page)
    assert on_screen == ["beta; alpha", "delta", "epsilon", "zeta"]
    expect(page.locator("#saved")).to_contain_text("10 changes kept")  # not before a try under way has failed
    page.context.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")
    saved(page)

    there = rows(demo, 2)
    assert [row["text"] for row in there] == on_screen == shown(page)
    assert int(page.locator("#nugget-list").get_attribute("data-version")) == int(before) + 10
    assert (there[0]["origin"], there[0]["made_from"]) == ("merged", ["beta", "alpha"])
    assert (there[2]["importance"], there[2]["note"], len(there[2]["evidence"])) == ("okay", "doubtful", 1)
    with demo.database() as db:
        story = db.execute(
            "select verb from nuggets_bankedit where bank_id = ? order by version desc limit 10", [demo.bank(2)]
        )
        verbs = [verb for (verb,) in story]
        [[reading, read]] = db.execute(
            "select reading, read_passages from nuggets_nuggetbank where id = ?", [demo.bank(2)]
        )
    done = ["okay", "note", "attach", "read", "split", "move", "merge", "delete", "reading", "add"]
    assert list(reversed(verbs)) == done
    assert reading == "letters, in order"
    assert json.loads(read) == [there[2]["evidence"][0]["docid"]]
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    assert shown(page) == on_screen
    assert page.locator(".is-read:visible").count() == 1
    assert page.locator("#read-count").text_content() == "1 read"


def test_two_tabs_on_the_reading_show_both_versions(open_page: OpenPage, demo: Demo) -> None:
    first = open_page("anna")
    open_editor(first, demo.bank(3))
    second = first.context.new_page()
    open_editor(second, demo.bank(3))
    press(first, "t")
    write(first, "read as asked")
    saved(first)
    press(second, "t")
    write(second, "read otherwise")
    second.wait_for_selector("#refused")
    said = second.locator("#refused").text_content()
    assert "How I read the topic: “read otherwise”" in said
    assert "It now says: “read as asked”" in said
    assert second.input_value("#own-reading") == "read as asked"
    second.get_by_role("button", name="Keep mine").click()
    saved(second)
    assert second.input_value("#own-reading") == "read otherwise"
    second.close()


def test_mouse_selection_evidence_dragging_and_removing(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(3))
    press(page, "n")
    for text in ("one", "two", "three"):
        write(page, text)
    press(page, "Escape")
    saved(page)
    # A word selected by a double click in the last passage.
    last = page.locator(".passage").last
    last.scroll_into_view_if_needed()
    reading = last.locator(".reading")
    word = max(re.findall(r"\w+", reading.text_content()), key=len)
    # A notice stands there now; that the click ends it moves nothing.
    assert page.text_content("#hint")
    double_click(reading, word)
    assert selected(page).strip() == word
    page.locator("#nuggets").get_by_role("button", name="Evidence e", exact=True).click()
    saved(page)
    [evidence] = rows(demo, 3)[2]["evidence"]
    assert quoted(demo, evidence) == word
    # Its mark leads back to it from anywhere.
    page.locator("#passages").evaluate("panel => panel.scrollTo(0, 0)")
    page.locator(".nugget").last.locator("button[data-act=where]").click()
    assert page.evaluate("document.activeElement.dataset.docid") == evidence["docid"]
    expect(last).to_be_in_viewport()
    # Dragged by its handle to the front.
    page.locator(".nugget").last.locator(".handle").drag_to(
        page.locator(".nugget").first, target_position={"x": 200, "y": 3}
    )
    saved(page)
    assert [row["text"] for row in rows(demo, 3)] == ["three", "one", "two"]
    page.locator(".nugget").first.locator("button.remove").click()
    saved(page)
    assert rows(demo, 3)[0]["evidence"] == []


def test_search_counts_and_goes_through_all_passages(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(2))
    texts = page.locator(".reading").all_text_contents()
    count = sum(text.casefold().count("the") for text in texts)
    holding = sum("the" in text.casefold() for text in texts)
    press(page, "/")
    page.keyboard.type("the")
    assert page.locator("#search-count").text_content() == f"{count} in {holding} passages"
    assert page.evaluate("CSS.highlights.get('search').size") == count
    press(page, "Enter", "Enter")
    assert page.locator("#search-count").text_content() == f"2 of {count}"
    press(page, "Shift+Enter", "Shift+Enter")
    assert page.locator("#search-count").text_content() == f"{count} of {count}"
    press(page, "Escape", "j")  # in the passage, the sentence that holds the last one
    assert "the" in selected(page).casefold()
    press(page, "/")
    page.locator("#search-text").fill("no such words (anywhere")
    assert page.locator("#search-count").text_content() == "nothing found"


@pytest.mark.parametrize("text", ["only", "cats purr, dogs bark"])
def test_what_cannot_be_split_or_merged_is_said(text: str, open_page: OpenPage, demo: Demo) -> None:
    page = open_page("ben")
    page.goto("/")
    page.keyboard.press("c")
    page.wait_for_selector("#main[data-ready]")
    press(page, "n")
    write(page, text)
    press(page, "Escape", "m")
    assert page.locator("#hint").text_content() == "Choose two or more nuggets first, with x."
    press(page, "s")
    if text == "only":
        assert page.locator("#hint").text_content() == "One word can't be split."
    else:
        assert shown(page)[-2:] == ["cats purr", "dogs bark"]
    press(page, "Escape")
    saved(page)


def test_going_back_in_the_browser_shows_what_is_stored(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(3))
    press(page, "j", "r")
    press(page, "Control+a")
    write(page, "first wording")
    press(page, "v")
    saved(page)
    page.goto("/")
    open_editor(page, demo.bank(3))
    press(page, "j", "r")
    press(page, "Control+a")
    write(page, "second wording")
    press(page, "o", "j", "Alt+ArrowUp")
    saved(page)
    page.go_back()
    page.go_back()
    page.wait_for_selector("#main[data-ready]")
    stored = rows(demo, 3)
    assert shown(page) == [row["text"] for row in stored]
    checked = page.locator(".nugget input[type=radio]:checked").evaluate_all("found => found.map(one => one.value)")
    assert checked == [row["importance"] for row in stored if row["importance"]]
    press(page, "Control+z")  # takes the move back, and nothing else
    saved(page)
    assert sorted(row["text"] for row in rows(demo, 3)) == sorted(row["text"] for row in stored)


def test_what_the_server_refuses_leaves_the_screen_as_the_list_is(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(3))
    before = shown(page)
    page.context.set_offline(True)
    press(page, "n")
    write(page, "undone soon")
    press(page, "Escape", "Control+z", "r")
    press(page, "End")
    write(page, ", and reworded")  # the undo, not yet answered, takes this nugget away
    page.wait_for_selector("#saved[data-state=offline]")
    press(page, "v")
    assert page.locator("#hint").text_content() == "Undo waits for the server: press the key again."
    page.context.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")
    page.wait_for_selector("#refused >> text=undone soon, and reworded")
    assert shown(page) == before == [row["text"] for row in rows(demo, 3)]
    page.get_by_role("button", name="Understood").click()
    saved(page)


def test_an_answer_of_somebody_else_saves_nothing(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna", intercepts=True)
    open_editor(page, demo.bank(3))
    page.route("**/importance/", lambda route: route.fulfill(status=200, body="<html>portal</html>"))
    press(page, "j", "v")
    page.wait_for_selector("#saved[data-state=offline]")
    assert "1 change kept" in page.locator("#saved").text_content()
    page.unroute("**/importance/")
    page.evaluate("dispatchEvent(new Event('online'))")
    saved(page)
    assert rows(demo, 3)[0]["importance"] == "vital"


def test_evidence_comes_from_the_passage_the_person_is_at(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(3))
    press(page, "j", "p", "j", "p", "p", "e", "Enter")  # a sentence of the first is still selected
    page.wait_for_selector("#hint:text-is('Evidence of nugget 1: ¶3, the whole passage')")
    saved(page)
    third = page.locator(".passage").nth(2).get_attribute("data-docid")
    assert rows(demo, 3)[0]["evidence"][-1] == {"docid": third, "start": None, "end": None}
    page.evaluate(
        "() => { const [one, two] = document.querySelectorAll('.reading');"
        " getSelection().setBaseAndExtent(one.firstChild, 5, two.firstChild, 5); }"
    )
    press(page, "l", "e")
    assert page.locator("#hint").text_content() == "The selection spans two passages: select in one."


@pytest.mark.parametrize("importance", ["vital", "okay"])
def test_importance_is_chosen_while_a_nugget_is_typed(importance: str, open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(2))
    press(page, "n")
    choice = page.locator(f"#add input[value={importance}]")
    page.keyboard.type(f"typed as {importance}")
    press(page, "Control+1", "Control+2" if importance == "okay" else "Control+1")
    expect(choice).to_be_checked()
    # What is typed, with the choice, is there after a reload as well.
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    expect(choice).to_be_checked()
    press(page, "n")
    press(page, "Enter")
    saved(page)
    assert (rows(demo, 2)[-1]["text"], rows(demo, 2)[-1]["importance"]) == (f"typed as {importance}", importance)
    # The next one is decided anew, by mouse, without leaving the field.
    expect(page.locator("#add input:checked")).to_have_count(0)
    page.keyboard.type("chosen with ")
    page.locator(f"#add .{importance}").click()
    page.keyboard.type("the mouse")
    press(page, "Enter")
    saved(page)
    assert (rows(demo, 2)[-1]["text"], rows(demo, 2)[-1]["importance"]) == ("chosen with the mouse", importance)
    press(page, "Escape")
    place = len(rows(demo, 2))
    assert page.locator("#hint").text_content() == (
        f"You left the field. Nugget {place} can be made vital or okay, with v and o."
    )
    press(page, "o" if importance == "vital" else "v")
    saved(page)
    assert {rows(demo, 2)[-1]["importance"], importance} == {"vital", "okay"}


def test_what_is_missing_at_finish_follows_every_change(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(3))
    for _ in shown(page):
        press(page, "l", "d")
    saved(page)
    lines = page.locator("#findings li")
    press(page, "f")
    expect(page.locator("#findings")).to_be_visible()  # the answer is here, and the list can be edited again
    expect(lines).to_have_text(["There is no nugget yet."])
    press(page, "n")
    page.keyboard.type("one")
    expect(page.locator("#typed-new")).to_be_visible()
    expect(lines).to_have_text(["There is no nugget yet."])
    press(page, "Enter")
    expect(page.locator("#typed-new")).to_be_hidden()
    expect(lines).to_have_text(["Nugget 1 is neither vital nor okay yet."])
    write(page, "two, three")
    press(page, "Control+1")
    write(page, "four")
    press(page, "Escape")
    missing = "Nugget {} is neither vital nor okay yet."
    expect(lines).to_have_text([missing.format(place) for place in (1, 2)])
    press(page, "Alt+ArrowUp", "Alt+ArrowUp")  # four, which is vital
    expect(lines).to_have_text([missing.format(place) for place in (2, 3)])
    press(page, "j", "j", "s", "Escape")
    expect(lines).to_have_text([missing.format(place) for place in (2, 3, 4)])
    saved(page)
    press(page, "Control+z")
    expect(lines).to_have_text([missing.format(place) for place in (2, 3)])
    press(page, "l", "v")
    expect(lines).to_have_text([missing.format(2)])
    press(page, "k", "r", "Control+a", "Delete", "Enter")
    expect(lines).to_have_text(["Nugget 2 has no text.", missing.format(2)])
    page.locator("#findings a").first.click()
    press(page, "d")
    expect(page.locator("#findings")).to_be_hidden()
    saved(page)


def longest_word(reading: Locator) -> str:
    return max(re.findall(r"\w+", reading.text_content()), key=len)


def test_selected_words_become_a_nugget_by_mouse_alone(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(2))
    bar, field, add = page.locator("#selected"), page.locator("#new-text"), page.locator("#add button")
    reading = page.locator(".reading").first
    word = longest_word(reading)

    def last() -> tuple[str, list[str]]:
        saved(page)
        nugget = rows(demo, 2)[-1]
        return nugget["text"], [quoted(demo, evidence) for evidence in nugget["evidence"]]

    expect(bar).to_be_hidden()
    double_click(reading, word)
    bar.get_by_role("button", name="New nugget").click()
    expect(field).to_have_value(word)
    expect(bar).to_be_hidden()
    page.keyboard.type("From the bar")
    add.click()
    assert last() == ("From the bar", [word])

    # What is typed first keeps what is selected afterwards, whether one clicks into the field or on Add.
    field.click()
    page.keyboard.type("By a click into the field")
    double_click(reading, word)
    field.click()
    expect(page.locator("#new-passage")).to_be_visible()
    add.click()
    assert last() == ("By a click into the field", [word])
    field.click()
    page.keyboard.type("By a click on Add")
    double_click(reading, word)
    add.click()
    assert last() == ("By a click on Add", [word])
    double_click(reading, word)
    add.click()  # nothing is typed: as with n
    expect(field).to_have_value(word)
    press(page, "Escape")
    assert last()[0] == "By a click on Add"

    second = page.locator(".reading").nth(1)
    second.scroll_into_view_if_needed()
    other = longest_word(second)
    double_click(second, other)
    bar.get_by_role("button", name="Evidence").click()
    assert last() == ("By a click on Add", [word, other])


def test_keys_bring_a_passage_into_sight_from_its_title_on(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    page.set_viewport_size({"width": 900, "height": 420})  # most passages are higher than their panel
    open_editor(page, demo.bank(2))
    for key in ("p", "p", "p", "p", "i", "i"):
        press(page, key)
        title, panel = (page.locator(which).bounding_box() for which in (".passage:focus h3", "#passages"))
        assert panel["y"] <= title["y"] < panel["y"] + panel["height"], key
    # Where the page itself scrolls, a chosen sentence stands between the bars.
    page.set_viewport_size({"width": 390, "height": 600})
    for key in ("i", "j", "j", "p", "j"):
        press(page, key)
        if key == "j":
            top, bottom = page.evaluate(
                "(({ top, bottom }) => [top, bottom])(getSelection().getRangeAt(0).getBoundingClientRect())"
            )
            assert page.locator("header.bar").bounding_box()["height"] <= top
            assert bottom <= page.locator("footer.bar").bounding_box()["y"]


def test_evidence_of_a_whole_passage_is_asked_for_first(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(2))
    press(page, "n")
    write(page, "rests on all of it")
    press(page, "Escape", "p", "e")
    expect(page.locator("#whole-passage")).to_contain_text("No text is selected in ¶1. All of it would be evidence")
    press(page, "Escape")
    saved(page)
    assert rows(demo, 2)[-1]["evidence"] == []
    press(page, "e", "Enter")
    expect(page.locator(".nugget").last.locator(".evidence button[data-act=where]")).to_have_count(1)
    saved(page)
    docid = page.locator(".passage").first.get_attribute("data-docid")
    assert rows(demo, 2)[-1]["evidence"] == [{"docid": docid, "start": None, "end": None}]


def test_an_empty_list_says_how_to_begin_and_what_can_do_nothing_looks_so(open_page: OpenPage, demo: Demo) -> None:
    page = open_page("anna")
    open_editor(page, demo.bank(3))
    for _ in rows(demo, 3):
        press(page, "l", "d")
    saved(page)
    lines = page.locator(".first-steps li")
    expect(lines).to_have_count(3)
    expect(lines.first).to_be_visible()

    def enabled() -> set[str]:
        page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))")
        found = page.locator(
            ":is(.keys-row, #nuggets ~ footer, .keys-bar) [data-act]:not([aria-disabled=true], :disabled)"
        )
        return set(found.evaluate_all("all => all.map((one) => one.dataset.act)"))

    of_nuggets = {"vital", "okay", "reword", "attach", "where", "comment", "choose", "merge", "split", "delete"}
    of_nuggets |= {"up", "down", "previous"}
    press(page, "n")
    page.keyboard.type("one")
    assert not enabled() & of_nuggets
    # Pressed all the same, it says what is lacking.
    page.locator("[data-act=merge]").click(force=True)
    expect(page.locator("#hint")).to_have_text("Choose two or more nuggets first, with x.")
    write(page, "")
    write(page, "two words")
    press(page, "Escape")
    expect(lines.first).to_be_hidden()
    assert enabled() & of_nuggets == of_nuggets - {"attach", "where", "merge", "down"}
    press(page, "k")
    assert enabled() & of_nuggets == of_nuggets - {"attach", "where", "merge", "split", "up", "previous"}
    press(page, "p")
    assert enabled() & of_nuggets == {"attach", "delete", "previous"}
    press(page, "v")
    expect(page.locator("#hint")).to_have_text("You are in a passage: go to the nuggets first, with l.")

    # A visible handle and a visible checkbox, apart.
    handle, choice = page.locator(".nugget .handle").first, page.locator(".nugget .chosen").first
    one, other = handle.bounding_box(), choice.bounding_box()
    assert one["x"] + one["width"] <= other["x"]
    assert min(one["width"], other["width"]) >= 16
    assert choice.evaluate("(box) => getComputedStyle(box).opacity") == "1"
    for box in page.locator(".nugget .chosen").all():
        box.click()
    assert "merge" in enabled()
    page.locator("[data-act=merge]").click()
    write(page, "both are one")
    expect(page.locator(".nugget .origin")).to_have_text(["merged from 2"])
    press(page, "s", "Enter")
    expect(page.locator(".nugget .origin")).to_have_text(["split", "split"])
    saved(page)
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    expect(page.locator(".nugget .origin")).to_have_text(["split", "split"])
    press(page, "Control+z", "Control+z")
    expect(page.locator(".nugget .origin")).to_have_text(["merged from 2"])
