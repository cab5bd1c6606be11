"""What an organizer learns from each page without scrolling, on a screen of 1440 by 900."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import MARKS, Demo, OpenPage

pytestmark = MARKS
FOLD = 900
CAMPAIGN = "/campaigns/demo/"
# By the page: what answers its question. Its pattern is found in the text of the element.
ANSWERS = {
    "": [
        ('section[aria-label="Stages of the study"] [aria-current=step], ol.path li.done', r"\w+"),
        ("section[aria-labelledby=next] li.now h3, section[aria-labelledby=next] .in", r"\w+"),
        ("section[aria-labelledby=attention] h2", "Needs attention"),
        ("section table h2, section:has(table.matrix) h2", r".+"),
    ],
    "setup/": [("#steps h2", "Your way to results"), ("#steps li >> nth=5", r"\w+")],
    "jobs/new/?kind=AutoNuggets": [
        # The cost first: it comes a moment after the page, and replaces the whole card.
        ("#estimate .stats", "Cost"),
        ("#estimate h2", "Estimate"),
        ("#estimate", "USD"),
    ],
    "jobs/1/": [
        ("#progress [role=status]", "100 %"),
        ("#progress dt:has-text('Took'), #progress dt:has-text('Time left')", r"Took|Time left"),
        ("#progress dt:has-text('Failed') + dd", r"1"),
        ("#progress a[href='#failed']", "The text of demo_doc_90#1_702 is not loaded"),
    ],
    "plan/": [
        ("main .stats dt >> nth=0", "Topics given"),
        ("main .stats dd:has-text('median'), main .stats dt:has-text('Most to do')", r".+"),
        ("table.plan tbody tr >> nth=0", r"demo-1"),
        ("main .stats dt:has-text('Time to come')", "Time to come"),
    ],
    "scores/": [
        ("table.board tbody tr >> nth=0 >> th", r"\S+"),
        ("table.board tbody tr >> nth=0 >> svg", None),
        ("table.board thead th:has-text('interval')", r"0 to \d+, 95 % interval"),
    ],
    "comparisons/1/": [("#summary h2, #summary .headline, #summary p >> nth=0", r"\w")],
    "exports/": [
        ("#files h2 >> nth=0", r"For .+"),
        ("#filter", None),
        ("main .tabs a >> nth=3", r".+"),
    ],
    "progress/": [
        ("main .stats dt >> nth=0", "Expected end"),
        ("#stuck", "Stuck"),
        ("section[aria-labelledby=stuck] li, section[aria-labelledby=stuck] .in", r"\w"),
    ],
    "asked/": [("main .tabs a >> nth=0", r"Open \d+"), ("main article h2, main .empty h2", r".+")],
}


def is_in_sight(found: Locator) -> bool:
    box = found.bounding_box()
    return box is not None and box["y"] >= 0 and box["y"] + min(box["height"], 40) <= FOLD


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.partition("?")[0] or "overview")
def test_a_page_answers_its_question_without_scrolling(path: str, open_page: OpenPage, demo: Demo) -> None:
    page: Page = open_page("olga", viewport={"width": 1440, "height": FOLD})
    page.goto(CAMPAIGN + path)
    for selector, pattern in ANSWERS[path]:
        found = page.locator(selector).first
        if pattern:
            expect(found).to_have_text(re.compile(pattern))
        assert is_in_sight(found), selector
