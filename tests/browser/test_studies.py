"""Studies on the demo: what people and the rehearsal, and what two people, label differently."""

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import MARKS, ROOT, Demo, OpenPage, saved
from tests.browser.test_going_on import label_all
from tests.browser.test_support import citation, open_screen, sheet, until

pytestmark = MARKS


def table(page: Page, link: str) -> list[dict[str, str]]:
    """Return the rows of a table that the page's menu of files offers."""
    if not page.locator("#files-menu").is_visible():
        page.click("button:has-text('Download')")
    with page.expect_download() as started:
        page.click(f"#files-menu >> text={link}")
    return list(csv.DictReader(io.StringIO(Path(started.value.path()).read_text())))


def draw(page: Page, name: str, listed: str, first: str, second: str) -> None:
    page.goto(f"/campaigns/demo/{listed}/")
    page.fill("#id_name", name)
    page.select_option("#id_first", label=first)
    page.select_option("#id_second", label=second)
    page.fill("#id_seed", "7")
    page.click("button:text-is('Draw the sample')")
    page.wait_for_selector(f"h1:has-text('{name}')")


def give(page: Page, demo: Demo, person: str) -> list[int]:
    """Give the study on the page to a person; return the keys of their tasks, by topic."""
    page.select_option("#id_person", label=person)
    page.click("text=Give all topics")
    page.wait_for_selector(f".message:has-text('{person} has ')")
    with demo.database() as db:
        query = (
            "select task.id from work_task task join accounts_person person on person.id = task.person_id"
            " join campaigns_condition condition on condition.id = task.condition_id"
            " join campaigns_topic topic on topic.id = task.topic_id"
            " where person.username = ? and condition.sample = ? order by topic.qid"
        )
        return [key for [key] in db.execute(query, [person, page.locator("h1").inner_text()])]


def sign_off(page: Page) -> None:
    saved(page)
    page.keyboard.press("s")
    page.wait_for_selector("#ending[open]")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Home')")


def citations_of(demo: Demo, task: int) -> int:
    with demo.database() as db:
        [[total]] = db.execute("select total from work_task where id = ?", [task])
    return int(total)


def test_the_demo_comes_with_a_study_that_is_done(open_page: OpenPage) -> None:
    page = open_page("olga")
    page.goto("/campaigns/demo/")
    page.click("text=Disagreement studies")
    row = page.locator("tr:has-text('People and the rehearsal: ben')")
    assert "30/30" in row.inner_text()
    row.locator("a").click()
    items = table(page, "All citations")
    assert len(items) == 30
    people, model, ben = "Reference/Support", "Support by rehearsal", "People and the rehearsal: ben"
    assert all(item[people] != item[model] for item in items)
    [told] = table(page, "Agreement")
    for side, name in (("first", people), ("second", model)):
        assert float(told[f"match_{side}"]) == pytest.approx(sum(item[name] == item[ben] for item in items) / 30)


def test_a_study_is_drawn_judged_blind_coded_and_tabulated(open_page: OpenPage, demo: Demo) -> None:
    olga = open_page("olga")
    draw(olga, "Another look", "studies", "Reference/Support", "Support by rehearsal")
    tasks = give(olga, demo, "anna")
    assert [citations_of(demo, task) for task in tasks] == [15, 15]

    anna = open_page("anna")
    anna.goto("/")
    assert "Another look" not in anna.content()  # that it is about disagreements is nobody's to know
    for task in tasks:
        open_screen(anna, f"/support/{task}/")
        assert not anna.locator("#told").inner_text()
        assert len(label_all(anna, lambda: (sheet(anna), citation(anna)), "1")) == 15
        sign_off(anna)

    olga.reload()
    [told] = table(olga, "Agreement")
    items = table(olga, "All citations")
    assert {item["Another look: anna"] for item in items} == {"full"}
    fulls = sum(item["Reference/Support"] == "full" for item in items)
    assert 0 < fulls < 30
    assert float(told["match_first"]) == pytest.approx(fulls / 30)
    assert float(told["kappa_first"]) == 0  # who always says the same agrees no more than by chance

    olga.reload()
    form = olga.locator("form.coding").first
    form.locator("text=generalized").check()
    form.locator("[name=note]").fill("of all bread")
    form.locator("button").click()
    olga.wait_for_selector("text=Saved.")
    assert olga.locator("tr:has(th:text-is('generalized')) td.num").inner_text() == "1"
    assert [item["note"] for item in table(olga, "All citations") if item["codes"] == "generalized"] == ["of all bread"]


def test_a_third_person_sees_both_labels_and_decides(open_page: OpenPage, demo: Demo) -> None:
    olga = open_page("olga")
    olga.goto("/campaigns/demo/imports/")
    olga.set_input_files("#id_uploads", ROOT / "demo" / "support.independent.jsonl")
    olga.get_by_label("Name of the condition").fill("Independent/Support")
    olga.get_by_label("Made by").select_option("people")
    olga.click("#held button.go")
    olga.wait_for_selector("#imports tr:has-text('support.independent.jsonl'):has-text('labelled answers added')")
    draw(olga, "Who is right", "adjudication", "Reference/Support", "Independent/Support")
    [task, *_] = give(olga, demo, "anna")

    anna = open_page("anna")
    open_screen(anna, f"/support/{task}/")
    until(anna, lambda: "one person says" in anna.locator("#told").inner_text())
    told = anna.locator("#told").inner_text()
    assert len(label_all(anna, lambda: (sheet(anna), citation(anna)), "2")) == citations_of(demo, task)
    sign_off(anna)
    with demo.database() as db:
        [[seen]] = db.execute(
            "select count(*) from work_exposure where kind = 'support' and \"where\" like '%Who is right%'"
        )
    assert seen == 1
    olga.reload()
    items = [item for item in table(olga, "All citations") if item["Who is right: anna"]]
    assert len(items) == citations_of(demo, task)
    assert {item["Who is right: anna"] for item in items} == {"partial"}
    # A seed decides which of the two labels comes first.
    pairs = [(item["Reference/Support"], item["Independent/Support"]) for item in items]
    assert any(
        f"one person says {one}, another one {other}" in told for pair in pairs for one, other in (pair, pair[::-1])
    )
