"""A report judged sentence by sentence: by keyboard with the connection lost once, by mouse, and as axe finds it."""

import pytest
from playwright.sync_api import Page

from tests.browser.axe import grave
from tests.browser.conftest import MARKS, Demo, OpenPage, saved, until

pytestmark = MARKS

# Anna's work on demo-2, where all answers are asked of each citation, and whether a sentence claims that nothing is
# known; and the report of a run
# with four sentences, of which the third cites nothing.
GIVEN = """
from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign
from assessor.work.actions import give_tasks
from assessor.work.actions.guidelines import in_force, open_guidelines
from assignment.argue.actions import create_manual_argue
from assignment.argue.models import ArgueSheet

campaign, by = Campaign.objects.get(slug="demo"), {"acting_user": Person.objects.get(username="olga")}
change_protocol(campaign=campaign, settings={"argue_negatives": True, "argue_gate": "open"}, **by)
questions = campaign.conditions.get(name="Reference questions")
condition = create_manual_argue(questions=questions, name="By people", **by)
anna = Person.objects.get(username="anna")
open_guidelines(campaign=campaign, kind="argue", version=in_force(campaign, "argue").version, acting_user=anna)
topics = list(campaign.topics.filter(qid="demo-2"))
[task] = give_tasks(campaign=campaign, topics=topics, condition=condition, person=anna, **by)
print(task.pk, ArgueSheet.objects.get(task=task, answer__run__tag="lantern.zeroshot-q").pk)
"""


@pytest.fixture(scope="module")
def given(demo: Demo) -> tuple[int, int]:
    """The task and the sheet."""
    task, sheet = demo.run(GIVEN).splitlines()[-1].split()
    return int(task), int(sheet)


def open_screen(page: Page, given: tuple[int, int]) -> None:
    page.goto(f"/argue/{given[0]}/?answer={given[1]}")
    page.wait_for_selector("#main[data-ready]")
    page.wait_for_selector(f"#a{given[1]}:not([hidden])")


def stands(demo: Demo, given: tuple[int, int]) -> dict[str, str]:
    """Return the labels of the report as the database has them."""
    with demo.database() as db:
        query = "select key, value from argue_arguejudgment where sheet_id = ? and state = 'given' order by id"
        return dict(db.execute(query, [given[1]]))


def asked(demo: Demo, given: tuple[int, int], start: str = "") -> list[str]:
    with demo.database() as db:
        query = "select key from argue_arguejudgment where sheet_id = ? and state <> 'removed' order by id"
        return [key for (key,) in db.execute(query, [given[1]]) if key.startswith(start)]


def step(page: Page) -> str:
    """Return in which step the judgment is that has the focus."""
    script = "() => document.activeElement.dataset.answer ? 'answers' : document.activeElement.dataset.step"
    return str(page.evaluate(script))


def sentence(page: Page) -> int:
    return int(str(page.locator(".answer:not([hidden]) li[aria-current]").get_attribute("data-sentence")))


def test_a_whole_report_by_keyboard_with_the_connection_lost_half_way(
    open_page: OpenPage, demo: Demo, given: tuple[int, int]
) -> None:
    page = open_page("anna")
    open_screen(page, given)
    assert (sentence(page), step(page)) == (0, "attests")
    first = asked(demo, given, "s0.")
    attests, *answers = first
    assert len(answers) > 1, "several answers may be asked of one document"
    page.keyboard.press("Enter")
    assert page.locator("#hint").inner_text().startswith("No label yet: y c r n label it")
    page.keyboard.press("y")
    assert step(page) == "answers", "after the support the answers of the same document"
    page.keyboard.press("2")
    assert page.locator(".stated:not([hidden]) input:checked").count() == 1
    saved(page)
    assert stands(demo, given) == {attests: "yes"}, "nothing is said of an answer before Enter"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    page.context.set_offline(True)
    page.keyboard.press("Enter")
    until(page, lambda: sentence(page) == 1)
    page.keyboard.press("n")
    page.wait_for_selector("#saved[data-state=offline]:has-text('2 changes kept in this browser')")
    page.context.set_offline(False)
    saved(page)
    confirmed = {attests: "yes", **dict.fromkeys(answers, "no"), answers[1]: "yes"}
    second = asked(demo, given, "s1.")
    assert stands(demo, given) == confirmed | {second[0]: "no"}

    page.keyboard.press("u")
    page.keyboard.press("u")
    until(page, lambda: sentence(page) == 0)
    saved(page)
    assert stands(demo, given) == {attests: "yes"}
    assert page.locator(".stated:not([hidden]) input:checked").count() == 1, "what was ticked still is"
    page.keyboard.press("Enter")
    until(page, lambda: sentence(page) == 1)
    page.keyboard.press("y")
    if step(page) == "answers":
        page.keyboard.press("Enter")
    until(page, lambda: sentence(page) == 2)

    # The sentence that cites nothing: what follows comes and goes.
    assert page.locator("#no-document:has-text('This sentence cites nothing.')").is_visible()
    assert (step(page), asked(demo, given, "s2.")) == ("needs", ["s2.needs", "s2.negative"])
    page.keyboard.press("c")
    assert step(page) == "negative"
    page.keyboard.press("n")
    assert step(page) == "first"
    page.keyboard.press("f")
    page.wait_for_selector("#flag[open]")
    page.keyboard.type("By whom?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#told :text('By whom?')")
    page.keyboard.press("r")
    saved(page)
    assert {key: label for key, label in stands(demo, given).items() if key.startswith("s2.")} == {
        "s2.needs": "yes",
        "s2.negative": "no",
        "s2.first": "no",
    }
    until(page, lambda: sentence(page) == 3)
    page.keyboard.press("[")
    page.keyboard.press("n")
    assert not page.locator("[data-step=first]").is_visible(), "it follows from a label that is changed"
    saved(page)
    assert asked(demo, given, "s2.") == ["s2.needs", "s2.negative"]
    page.keyboard.press("u")
    until(page, lambda: page.locator("[data-step=first] [aria-pressed=true][data-label=no]").is_visible())
    saved(page)
    assert stands(demo, given)["s2.first"] == "no", "with its label it comes back"
    with demo.database() as db:
        query = "select flag from argue_arguejudgment where sheet_id = ? and key = 's2.first'"
        assert db.execute(query, [given[1]]).fetchall() == [("By whom?",)], "and with its flag"
    page.keyboard.press("]")
    while page.locator(f"#a{given[1]}:not([hidden])").count() and "judged" in page.locator("#said-count").inner_text():
        if step(page) == "attests":
            page.keyboard.press("y")
        elif len(stands(demo, given)) == len(asked(demo, given)):
            break
        else:
            page.keyboard.press("Enter")
        saved(page)
    assert page.locator("#hint").inner_text().endswith("is done: ⏎ goes on.")
    page.keyboard.press("Enter")
    until(page, lambda: not page.locator(f"#a{given[1]}").is_visible())


def test_a_claim_of_absence_by_mouse(open_page: OpenPage, demo: Demo, given: tuple[int, int]) -> None:
    page = open_page("anna")
    open_screen(page, given)
    page.click(f"#a{given[1]} [data-sentence='2']")
    page.click("[data-step=negative] [data-label=yes]")
    boxes = page.locator(".stated:not([hidden]) input")
    assert boxes.count() > 5
    assert page.locator(".stated:not([hidden]) kbd:not([hidden])").count() == boxes.count()
    last = page.locator(".stated:not([hidden])").last
    last.locator("[data-words]").click()
    assert boxes.last.is_checked()
    saved(page)
    assert not [key for key in stands(demo, given) if key.startswith("s2.n") and "-" in key]
    page.click("[data-act=next]")
    saved(page)
    stated = {key: label for key, label in stands(demo, given).items() if key.startswith("s2.n") and "-" in key}
    assert [*stated.values()] == ["no"] * (len(stated) - 1) + ["yes"]
    page.click(f"#a{given[1]} [data-sentence='2']")
    last.locator("input").click()
    saved(page)
    assert [*stands(demo, given).values()].count("yes") < len(stands(demo, given))
    assert stands(demo, given)[[*stated][-1]] == "no", "once confirmed, a click is a label"
    page.click("[data-step=negative] [data-label=no]")
    saved(page)
    assert not [key for key in stands(demo, given) if key.startswith("s2.n") and "-" in key]


def test_it_is_accessible_and_fits_a_phone(open_page: OpenPage, given: tuple[int, int]) -> None:
    page = open_page("anna", bypass_csp=True)
    open_screen(page, given)
    assert grave(page) == []
    for key, dialog in (("f", "flag"), ("x", "cannot"), ("?", "keys"), ("g", "guidelines")):
        page.keyboard.press(key)
        page.wait_for_selector(f"#{dialog}[open]")
        assert grave(page, "dialog[open]") == []
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog[open]", state="detached")
    page.set_viewport_size({"width": 320, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert grave(page) == []
    page = open_page("olga", bypass_csp=True)
    page.goto(f"/argue/{given[0]}/")
    page.wait_for_selector("text=Read-only view of what anna said under By people")
    assert grave(page) == []
    page.set_viewport_size({"width": 320, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
