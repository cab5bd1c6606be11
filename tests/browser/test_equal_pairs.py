"""Support where equal pairs are judged once: what is said of one answer changes others that are in the page already."""

import pytest

from support.citations import places
from tests.browser.axe import grave
from tests.browser.conftest import MARKS, Demo, OpenPage, saved
from tests.browser.test_support import citation, open_screen, press, revisions, sheet, stands, until

pytestmark = MARKS

# A second run that says the same as the first on demo-1, and one sentence more; its answer comes right after that one.
COPY = """
from assessor.campaigns.actions import change_protocol
from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Campaign, Run
from assessor.work.actions import give_tasks
from support.actions import create_support, note_equal
from tests.judging import all_judged, forget_equal, put

campaign = Campaign.objects.get(slug="demo")
change_protocol(campaign=campaign, settings={"equal_pairs_once": True}, acting_user=None)
answers = Answer.objects.filter(topic__qid="demo-1").exclude(run__task="control")
first = max(answers, key=lambda answer: (len(answer.content), -answer.pk))
record = first.import_record
copy = Answer.objects.create(
    run=Run.objects.create(campaign=campaign, tag="demo.copy", import_record=record), topic=first.topic,
    content=[*first.content, {"text": "One sentence more.", "citations": first.content[0]["citations"] or [0]}],
    references=first.references, words=first.words + 3, import_record=record,
)
condition = create_support(campaign=campaign, name="once", shown=None, acting_user=None)
person = Person.objects.get(username="anna")
[task] = give_tasks(
    campaign=campaign, topics=[first.topic], condition=condition, person=person, acting_user=None
)
by_answer = {sheet.answer: sheet for sheet in all_judged(task)}
put(by_answer.values(), place=9)
forget_equal(task)
for place, answer in enumerate((first, copy)):
    put([by_answer[answer]], place=place)
note_equal(condition, first.topic_id)
print(task.pk, *(by_answer[answer].pk for answer in (first, copy)))
"""


@pytest.fixture(scope="module")
def given(demo: Demo) -> tuple[int, int, int]:
    """The keys of Anna's task, and of her sheets on an answer and on its copy."""
    task, first, copy = map(int, demo.run(COPY).split())
    return task, first, copy


def settled(demo: Demo, key: int) -> dict[str, tuple[int, str]]:
    """Return where the one is that is asked instead, its answer and its key, by citation."""
    query = (
        "select own.sentence || '.' || own.citation, asked.sheet_id, asked.sentence || '.' || asked.citation"
        " from support_supportjudgment own join support_supportjudgment asked on asked.id = own.equal_to_id"
        " where own.sheet_id = ? and asked.id <> own.id"
    )
    with demo.database() as db:
        return {one: (sheet_key, of_asked) for one, sheet_key, of_asked in db.execute(query, [key])}


def test_labels_given_without_a_connection_reach_answers_that_were_fetched_before(
    open_page: OpenPage, demo: Demo, given: tuple[int, int, int]
) -> None:
    task, first, copy = given
    keys = sorted((key for key, asked in settled(demo, copy).items() if asked == (first, key)), key=places)
    [own] = set(stands(demo, copy, "open")) - {*keys}
    assert len(keys) > 2
    page = open_page("anna")
    open_screen(page, f"/support/{task}/")
    assert sheet(page) == first
    progress = page.locator("#progress")
    assert str(progress.text_content()).startswith("0 of ")
    page.context.set_offline(True)
    press(page, "1" * len(keys))
    page.keyboard.press("Enter")
    # Of the copy, that one sentence is asked, which is in the page; what is done there is done on its first version.
    until(page, lambda: sheet(page) == copy)
    assert citation(page) == own
    assert str(progress.text_content()).startswith(f"{len(keys)} of ")
    press(page, "3")
    page.wait_for_selector("#saved[data-state=offline]")
    page.context.set_offline(False)
    saved(page)
    assert page.locator("#refused").count() == 0
    assert stands(demo, copy) == dict.fromkeys(keys, "full") | {own: "none"}
    assert revisions(demo, copy) == ["judged with equal"] * len(keys) + ["label"]
    assert str(progress.text_content()).startswith(f"{2 * len(keys) + 1} of ")
    line = page.locator(f"#a{copy} [data-equal='{keys[-1]}'] .told")
    assert line.text_content() == "full, judged with an equal one"

    press(page, "uu")
    until(page, lambda: sheet(page) == first)
    saved(page)
    assert stands(demo, copy) == dict.fromkeys(keys[:-1], "full")
    assert str(progress.text_content()).startswith(f"{2 * len(keys) - 2} of ")
    press(page, "2")
    page.keyboard.press("Enter")
    until(page, lambda: sheet(page) == copy)
    press(page, "3")
    saved(page)
    assert stands(demo, copy) == dict.fromkeys(keys[:-1], "full") | {keys[-1]: "partial", own: "none"}


def test_labels_reach_answers_that_are_not_in_the_page(
    open_page: OpenPage, demo: Demo, given: tuple[int, int, int]
) -> None:
    """Loaded anew from another answer, the page has neither; it counts and goes on by what the server tells."""
    task, first, copy = given
    page = open_page("anna")
    page.set_viewport_size({"width": 320, "height": 640})
    open_screen(page, f"/support/{task}/?answer={copy}")
    shown = page.locator(f"#a{copy}")
    assert len(settled(demo, copy)) > 2
    assert shown.locator(".told:text('judged with an equal one')").count() == len(settled(demo, copy))
    before = str(page.locator("#progress").text_content()).split(" ·")[0]
    page.goto(f"/support/{task}/?answer={first}")
    page.wait_for_selector(f"#a{first}:not([hidden])")
    assert str(page.locator("#progress").text_content()).split(" ·")[0] == before
    page.wait_for_selector(".passage:not([hidden])")
    press(page, "2")
    saved(page)
    assert str(page.locator("#progress").text_content()).split(" ·")[0] == before
    assert revisions(demo, copy)[-1] == "judged with equal"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_it_is_accessible(open_page: OpenPage, given: tuple[int, int, int]) -> None:
    task, _, copy = given
    page = open_page("anna", color_scheme="dark", bypass_csp=True)
    open_screen(page, f"/support/{task}/?answer={copy}")
    assert grave(page) == []
