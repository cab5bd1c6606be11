"""The automatic side in a real browser: an organizer launches jobs, an assessor edits what a model drafted."""

import re
from typing import Any

from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import MARKS, Demo, OpenPage, give, saved, tab_to

pytestmark = MARKS
TOPIC = "how do beavers change rivers and is bringing them back a good idea"


def launch(page: Page, kind: str, *, grades: str = "", nuggets: str = "") -> None:
    """Launch a job over all topics by keyboard, with the estimate seen, and watch it to its end."""
    page.goto("/campaigns/demo/jobs/")
    tab_to(page, "a[href$='/jobs/new/']")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('New job')")
    tab_to(page, f"main a[href='?kind={kind}']")
    page.keyboard.press("Enter")
    expect(page.locator(f"main a[href='?kind={kind}']")).to_have_attribute("aria-current", "true")
    for field, choice in (("#id_qrels_source", grades), ("#id_nuggets", nuggets)):
        expect(page.locator(field)).to_have_count(int(bool(choice)))
        if choice:
            tab_to(page, field)
            page.keyboard.type(choice)
    launching = page.locator("#estimate button[name=launch]")
    expect(launching).to_have_text(re.compile(r"Launch \d+ calls?"))  # the judge is chosen: it is the only one
    tab_to(page, "button[name=launch]")
    page.keyboard.press("Enter")
    expect(page.locator("h1 .chip").first).to_have_text("done", timeout=60_000)
    expect(page.locator("#progress [role=status]")).to_contain_text("100 %")


def test_an_organizer_launches_and_an_assessor_edits_drafts(demo: Demo, open_page: OpenPage) -> None:
    olga = open_page("olga")
    olga.goto("/campaigns/demo/judges/")
    olga.get_by_role("link", name="rehearsal").click()
    olga.get_by_role("button", name="Send a test request").click()
    expect(olga.locator("#trial [role=status]")).to_have_text(re.compile("Waiting for|It works"))  # its worker is asked
    expect(olga.locator("#trial [role=status]")).to_have_text(re.compile("It works. Its answer: "), timeout=60_000)
    expect(olga.locator("#trial")).to_contain_text("by olga")
    launch(olga, "AutoNuggets", grades="People")
    launch(olga, "Drafts", grades="People")
    launch(olga, "UMBRELA")
    olga.goto("/campaigns/demo/runs/")
    olga.locator("#id_nuggets").select_option(label="AutoNuggets by rehearsal on People")
    olga.get_by_role("button", name="Add control runs").click()
    # The empty ones are there: the demo made them for its own nuggets.
    added = "Answers added: control.nuggets.AutoNuggets-by-rehearsal-on-People 6."
    expect(olga.get_by_role("status")).to_have_text(added)
    launch(olga, "AutoAssign", nuggets="AutoNuggets")
    olga.goto("/campaigns/demo/conditions/")
    rehearsed = olga.locator(".chip", has_text=re.compile("^rehearsal$"))
    expect(olga.locator(".cell", has_text="Auto/Auto by rehearsal on People").locator(rehearsed)).to_be_visible()
    expect(olga.locator(".cell", has_text="AutoNuggets by rehearsal on People")).to_contain_text("6 of 6 lists")
    expect(olga.locator("tr", has_text="UMBRELA by rehearsal").locator(rehearsed)).to_be_visible()
    give(olga, "Drafts by rehearsal", "anna", "demo-6")

    anna = open_page("anna", intercepts=True)
    seen: list[str] = []

    def look(route: Route) -> None:
        response = route.fetch(max_redirects=0)
        is_text = any(kind in response.headers.get("content-type", "") for kind in ("html", "json", "plain"))
        seen.append(f"{response.headers}\n{response.text() if is_text else ''}")
        route.fulfill(response=response)

    anna.route("**/*", look)
    drafts = edit_drafts(anna)
    check_nothing_else_of_the_model_came(seen, drafts)
    check_the_organizer_sees_what_became_of_them(olga, len(drafts))


def edit_drafts(page: Page) -> list[str]:
    """Post-edit by keyboard: one reworded, two merged, one split, one deleted, one added, the others kept."""
    page.goto("/")
    tab_to(page, f"[aria-label='Continue {TOPIC}']")
    page.keyboard.press("Enter")
    page.wait_for_selector("#main[data-ready]")
    rows = page.locator("#nugget-list .nugget, .nuggets .nugget")
    drafts = [row.locator("textarea.text").input_value() for row in rows.all()]
    assert len(drafts) >= 6
    assert page.locator(".importance input:checked").count() == 0
    page.keyboard.press("l")
    page.keyboard.press("r")
    page.keyboard.press("Control+a")
    page.keyboard.type("A draft in my own words")
    page.keyboard.press("Enter")
    saved(page)
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    for _ in range(2):
        page.keyboard.press("j")
    page.keyboard.press("d")
    saved(page)
    page.keyboard.press("n")
    page.keyboard.type("A nugget of my own")
    page.keyboard.press("Enter")
    saved(page)
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    for _ in range(len(drafts)):
        page.keyboard.press("v")
        saved(page)
        page.keyboard.press("j")
    left = page.locator("#nugget-list .nugget:not(:has(input:checked))")
    for _ in range(left.count()):
        left.first.focus()
        page.keyboard.press("o")
        saved(page)
    page.keyboard.press("f")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    return drafts


def check_nothing_else_of_the_model_came(seen: list[str], drafts: list[str]) -> None:
    """Look through all that was sent to the assessor, headers and bodies."""
    assert sum(drafts[0] in text for text in seen) > 3
    for telltale in ("UMBRELA", "Drafts by", "AutoNuggets by", "drafted by", "prompts=", "final score"):
        assert not any(telltale in text for text in seen), telltale


def check_the_organizer_sees_what_became_of_them(page: Page, drafts: int) -> None:
    page.goto("/campaigns/demo/conditions/")
    page.get_by_role("link", name="Drafts by rehearsal", exact=True).first.click()
    page.get_by_role("link", name="Drafts", exact=True).click()
    page.get_by_role("link", name=re.compile("demo-6|beavers")).first.click()
    figures: dict[str, Any] = dict(
        zip(
            page.locator("dl.figures dt").all_inner_texts(),
            page.locator("dl.figures dd").all_inner_texts(),
            strict=True,
        )
    )
    ends = {name: int(figures[name]) for name in ("kept", "edited", "merged", "split", "deleted")}
    assert ends == {"kept": drafts - 2, "edited": 1, "merged": 0, "split": 0, "deleted": 1}
    assert (int(figures["drafts"]), int(figures["added"])) == (drafts, 1)
