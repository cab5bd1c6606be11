"""Questions graded beside a model's grades, by keyboard and by mouse: each is shown before it can be graded."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.axe import grave
from tests.browser.conftest import MARKS, Demo, OpenPage, saved, until

pytestmark = MARKS

# A model's grades of the answers to demo-1, but for one question of the last answer; and Ben's work beside them.
GIVEN = """
from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Campaign, Condition, Judge
from assessor.work.actions import give_tasks
from assessor.work.actions.guidelines import in_force, open_guidelines
from assignment.actions import create_manual_assign
from assignment.actions.judged_answers import add_sheets, sheet_row
from assignment.grading.label_kind import GRADING
from nuggets.queries import nuggets_of
from nuggets.models import NuggetBank

campaign = Campaign.objects.get(slug="demo")
[bank] = NuggetBank.objects.filter(condition__name="Reference questions", topic__qid="demo-1")
judge = Judge.objects.create(kind="imported", name="Mia's grades", parameters={"by": "model"})
shown = Condition.objects.create(
    campaign=campaign, name="Mia's grades", kind="grading", method="imported", nuggets=bank.condition, judge=judge,
    protocol=campaign.protocol,
)
asked = [nugget["id"] for nugget in nuggets_of(bank)]
answers = [one for one in Answer.objects.filter(topic=bank.topic, apart=False).order_by("pk") if one.words]
add_sheets(
    sheet_row(
        condition=shown.pk, bank=bank.pk, answer=answer.pk, judge=judge.pk, edition=bank.edition, nuggets=asked,
        labels={nugget: str(place % 6) for place, nugget in enumerate(asked if answer != answers[0] else asked[1:])},
    )
    for answer in answers
)
by = {"acting_user": Person.objects.get(username="olga")}
edited = create_manual_assign(nuggets=bank.condition, name="Grades edited", kind=GRADING, shown=shown, **by)
ben = Person.objects.get(username="ben")
open_guidelines(campaign=campaign, kind="grading", version=in_force(campaign, "grading").version, acting_user=ben)
[task] = give_tasks(campaign=campaign, topics=[bank.topic], condition=edited, person=ben, reason="asked to", **by)
print(task.pk)
"""


@pytest.fixture(scope="module")
def task(demo: Demo) -> int:
    return int(demo.run(GIVEN).splitlines()[-1])


def open_screen(page: Page, task: int) -> list[Locator]:
    """Open the work and return the rows of its questions."""
    page.goto(f"/assign/{task}/")
    page.wait_for_selector("#main[data-ready]")
    page.wait_for_selector(".answer:not([hidden])")
    return page.locator(".fact").all()


def shown(row: Locator) -> str:
    return str(row.locator("[data-shown]").text_content())


def pressed(row: Locator) -> list[Any]:
    return [one.get_attribute("data-label") for one in row.locator("[aria-pressed=true]").all()]


def test_each_grade_is_shown_before_its_question_can_be_graded(open_page: OpenPage, task: int) -> None:
    page = open_page("ben")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/show/") else None)
    rows = open_screen(page, task)
    assert len(rows) > 3
    until(page, lambda: shown(rows[0]) == "0")
    assert [shown(row) for row in rows[1:]] == ["…"] * (len(rows) - 1), "of one question, the present one"
    assert len(asked) == 1
    assert [pressed(row) for row in rows] == [[]] * len(rows), "nothing is preselected"
    assert page.locator("section:has(#answers)").inner_text().count("1 answer waits for the model's labels") == 1
    page.keyboard.press("Enter")  # takes nothing over
    assert pressed(rows[0]) == []
    page.keyboard.press("4")
    until(page, lambda: pressed(rows[0]) == ["4"] and shown(rows[1]) == "1")
    # By mouse on a question whose grade was not shown: that comes first.
    rows[3].locator("[data-label='5']").click()
    until(page, lambda: shown(rows[3]) == "3")
    assert pressed(rows[3]) == []
    rows[3].locator("[data-label='5']").click()
    until(page, lambda: pressed(rows[3]) == ["5"])
    saved(page)
    assert page.locator("#refused").count() == 0
    assert grave(page) == []


def test_without_a_connection_what_was_not_shown_waits(open_page: OpenPage, task: int) -> None:
    page = open_page("ben")
    rows = open_screen(page, task)
    until(page, lambda: shown(rows[1]) == "1")
    page.context.set_offline(True)
    page.keyboard.press("2")
    until(page, lambda: rows[2].get_attribute("aria-current") == "true")
    page.keyboard.press("2")
    assert (pressed(rows[1]), pressed(rows[2]), shown(rows[2])) == (["2"], [], "…")
    page.context.set_offline(False)
    until(page, lambda: shown(rows[2]) == "2")
    page.keyboard.press("2")
    until(page, lambda: pressed(rows[2]) == ["2"])
    saved(page)
