"""Two conditions of the demo compared by an organizer: figures on screen in both themes, and as files."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import MARKS, OpenPage

pytestmark = MARKS


def download(page: Page, selector: str) -> bytes:
    if not page.locator("#files-menu").is_visible():
        page.click("button:has-text('Download')")
    with page.expect_download() as started:
        page.click(selector)
    return Path(started.value.path()).read_bytes()


def drawn(page: Page) -> int:
    """Wait until every figure is drawn; return how many there are."""
    page.wait_for_selector("[data-figure] svg")
    page.wait_for_selector("[data-figure]:not(:has(svg))", state="detached")
    assert page.locator("text=could not be drawn").count() == 0
    return page.locator("[data-figure] svg").count()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_demo_comes_with_a_comparison(open_page: OpenPage, scheme: str) -> None:
    page = open_page("olga", color_scheme=scheme)
    page.goto("/campaigns/demo/")
    page.click("text=Comparisons")
    page.click("text=Reference/Manual and Reference/Auto by rehearsal")
    page.wait_for_selector("#rankings", timeout=60_000)
    assert drawn(page) == 8
    paper = page.locator("[data-figure] svg").first.evaluate("svg => svg.outerHTML.includes('#16181d')")
    assert paper is (scheme == "dark")
    # What lies under the pointer is named: a run with its scores.
    page.locator("[data-figure*=scatter] .mark-symbol.role-mark path").last.hover()
    page.wait_for_selector("#tip.visible")
    assert re.search(r"Run\s.+\nTask\s", page.locator("#tip").inner_text())
    page.keyboard.press("Escape")
    page.wait_for_selector("#tip", state="hidden")


def test_an_organizer_compares_two_conditions_and_downloads_all_of_it(open_page: OpenPage) -> None:
    page = open_page("olga")
    page.goto("/campaigns/demo/comparisons/")
    page.select_option("#id_first", label="Reference/Manual (assignment)")
    page.select_option("#id_second", label="Reference/Auto by rehearsal (assignment)")
    page.click("summary:text('More options')")
    page.check("text=RAG")
    page.fill("#id_seed", "7")
    page.fill("#id_name", "RAG alone")
    page.click("button:text-is('Compare')")
    page.wait_for_selector("h1:has-text('RAG alone')")
    page.wait_for_selector("#rankings", timeout=60_000)
    assert drawn(page) == 8
    assert page.locator("dt:text-is('Tasks') + dd").inner_text() == "RAG"

    # The matrix on the page is that of the file, and adds up to the pairs that are told.
    result = json.loads(download(page, "a:text-is('comparison.json')"))
    labels = result["labels"]
    assert result["seed"] == 7
    assert sum(map(sum, labels["matrix"])) == labels["pairs"] > 100
    cells = page.locator("section[aria-labelledby=labels] table").first.locator("td .h > span").all_inner_texts()
    assert [int(cell) for cell in cells] == [count for row in labels["matrix"] for count in row]
    rows = list(csv.DictReader(io.StringIO(download(page, "a:text-is('runs.csv')").decode())))
    assert {row["task"] for row in rows} == {"RAG"}
    assert len(rows) == len(result["scores"]["runs"]) == 4
    for name, start in (
        ("taus.tex", b"\\begin{table}"),
        ("scores.tex", b"\\begin{table}"),
        ("described.csv", b"name,"),
    ):
        assert download(page, f"a:text-is('{name}')").startswith(start)

    # Each figure in each form.
    for place in range(8):
        figure = page.locator(".charts figure").nth(place)
        for form, start in (("SVG", b"<svg"), ("PDF", b"%PDF"), ("PNG", b"\x89PNG"), ("CSV", b"layer,")):
            with page.expect_download() as started:
                figure.locator(f"a:text-is('{form}')").click()
            assert Path(started.value.path()).read_bytes().startswith(start), form

    # The topic that differs most leads to as many differences as are told.
    link = page.locator("section[aria-labelledby=topics] td a").first
    differ = int(link.inner_text())
    link.click()
    page.wait_for_selector("h1:has-text('Labels that differ on')")
    assert page.locator("#differ tbody tr").count() == min(differ, 50)


def test_what_has_nothing_in_common_is_a_message_and_no_blank_chart(open_page: OpenPage) -> None:
    page = open_page("olga")
    page.goto("/campaigns/demo/comparisons/")
    page.select_option("#id_first", label="Reference/Manual (assignment)")
    page.select_option("#id_second", label="Reference/Support (support)")
    page.click("button:text-is('Compare')")
    page.wait_for_selector("text=have labels of different kinds: they can't be compared.")
    page.set_input_files(
        "#table_file", {"name": "theirs.csv", "mimeType": "text/csv", "buffer": b"run_id,vstrict\na,1\nb,0\n"}
    )
    page.click("button:text-is('Import')")
    page.wait_for_selector(".message:has-text('theirs.csv imported.')")
    page.select_option("#id_first", label="Reference/Manual (assignment)")
    page.select_option("#id_second", label="theirs.csv (score table)")
    page.click("button:text-is('Compare')")
    page.wait_for_selector("text=have no run in common.", timeout=60_000)
    assert page.locator("[data-figure]").count() == 0


def test_figures_that_come_later_are_drawn(open_page: OpenPage) -> None:
    page = open_page("olga")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if ".json" in request.url else None)
    for name in ("significance", "judges", "nuggets"):
        page.goto(f"/campaigns/demo/scores/2/{name}/")
        assert drawn(page) == 2
        assert page.locator("text=Figures are being drawn").count() == 0
    assert len(asked) == len(set(asked)) == 6
    page.locator("[data-figure] .mark-symbol path").first.hover()
    page.wait_for_selector("#tip.visible")
