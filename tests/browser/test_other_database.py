"""What a browser keeps for one database never reaches another one behind the same address, and is not lost either."""

import shutil
from pathlib import Path
from uuid import uuid4

from tests.browser import test_assignment
from tests.browser.conftest import MARKS, Demo, OpenPage, saved, sign_in
from tests.browser.editors import open_editor, write
from tests.browser.test_faults import texts

pytestmark = MARKS
given = test_assignment.given
REPLACED = "Left from before Assay's database was replaced, so it was never sent."


def test_a_page_opened_on_another_database_writes_nothing(open_page: OpenPage, demo: Demo, given: str) -> None:
    page = open_page("anna")
    test_assignment.open_screen(page, given)
    page.keyboard.press("1")
    saved(page)
    before = test_assignment.stands(demo, test_assignment.sheet(page))
    assert len(before) == 1
    with demo.database() as db:
        db.execute("update work_installation set key = ?", [uuid4().hex])
    db.close()
    page.keyboard.press("2")
    page.wait_for_selector('#refused:has-text("Assay\'s database was replaced since this page was opened")')
    assert page.locator("#refused button").all_text_contents() == ["Understood"], "it can't be said here"
    assert test_assignment.stands(demo, test_assignment.sheet(page)) == before
    # What the person had said before is no undo of what stands here.
    page.click("text=Understood")
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    page.keyboard.press("u")
    page.wait_for_timeout(500)
    assert test_assignment.stands(demo, test_assignment.sheet(page)) == before


def test_a_full_outbox_is_shown_on_another_database_and_never_sent(
    open_page: OpenPage, demo: Demo, first_start: Path
) -> None:
    """The other one is a copy of an earlier state, with a name of its own, as an administrator makes it."""
    page = open_page("anna")
    open_editor(page, demo.bank(2))
    page.context.set_offline(True)
    page.keyboard.press("n")
    write(page, "Said to the first")
    write(page, "Said to the first as well")
    page.keyboard.type("Half a thought")
    page.wait_for_selector("#saved[data-state=offline]:has-text('2 changes kept in this browser')")
    page.wait_for_timeout(300)
    context = page.context
    page.close()
    demo.stop()
    shutil.rmtree(demo.data)
    shutil.copytree(first_start, demo.data)
    demo.manage("rename_installation")
    demo.start()
    context.set_offline(False)

    context.clear_cookies()
    page = context.new_page()
    sign_in(page, "anna")
    before = texts(demo, 2)
    open_editor(page, demo.bank(2))
    page.wait_for_selector(f'#refused:has-text("{REPLACED}")')
    told = str(page.locator("#refused").text_content())
    for kept in ("“Said to the first”", "“Said to the first as well”", "“Half a thought”"):
        assert kept in told
    assert page.locator("#refused button").all_text_contents() == ["Understood"]
    assert page.input_value("#new-text") == ""
    page.reload()
    page.wait_for_selector("#refused:has-text('Said to the first')")
    page.wait_for_timeout(1500)
    assert texts(demo, 2) == before
    page.click("text=Understood")
    page.reload()
    page.wait_for_selector("#main[data-ready]")
    assert page.locator("#refused").count() == 0
    assert page.evaluate("Object.values(localStorage).join().includes('Said to')") is False
    page.keyboard.press("n")
    write(page, "Said to the second")
    saved(page)
    assert texts(demo, 2) == [*before, "Said to the second"]
