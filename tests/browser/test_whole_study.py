"""A whole study by three people in a browser, from an empty database to downloaded figures.

With ASSAY_TOUR naming a folder, its screenshots go there: `make tour` puts them into docs/tour.
"""

import csv
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import MARKS, ROOT, give, saved, wait_until_signed_in
from tests.browser.installation import ADMIN, PASSWORD, Installation
from tests.ports import take_block

pytestmark = MARKS
DEMO = ROOT / "demo"
STUDY = "/campaigns/study/"
NUGGETS = [
    "Heat pumps move heat rather than make it",
    "Efficiency falls as it gets colder outside",
    "Frost on the coil is melted by running in reverse",
]
PLAN = [
    ("ManualNuggets", "anna", "demo-1"),
    ("Manual/Manual", "anna", "demo-1"),
    ("Support by people", "anna", "demo-1"),
    ("Drafts by rehearsal", "ben", "demo-2"),
    ("Edits/Manual", "ben", "demo-2"),
]
STATISTICS = ("Min", "Median", "Max", "all")
FILES = ["topics.tsv", "segments.jsonl", "qrels.people.txt", "runs.csv", "runs/*.jsonl"]


def shot(page: Page, name: str) -> None:
    """Keep a picture of this step where a folder for them is named."""
    if folder := os.environ.get("ASSAY_TOUR"):
        page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with Installation(tmp_path_factory, take_block()[0]) as installation:
        yield installation


@pytest.fixture
def signed_in(installation: Installation, browser: Browser) -> Iterator:
    """Open a browser of its own for a person, who signs in; first sets a password, where they come by a link."""
    contexts, wrong = [], []

    def do(name: str, link: str = "") -> Page:
        context = browser.new_context(base_url=installation.address, viewport={"width": 1280, "height": 720})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"script error: {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"{dialog.type} on {page.url}"), dialog.accept()))
        page.on("response", lambda response: wrong.append(response.url) if response.status >= 500 else None)
        if link:
            page.goto(link)
            page.fill("#id_password1", PASSWORD)
            page.fill("#id_password2", PASSWORD)
            page.click("button:text-is('Set password')")
            page.wait_for_selector("text=Your new password is set.")
        page.goto("/login/")
        page.fill("#id_username", name)
        page.fill("#id_password", PASSWORD)
        page.keyboard.press("Enter")
        wait_until_signed_in(page)
        return page

    yield do
    for context in contexts:
        context.close()
    assert wrong == []


def make_campaign(page: Page) -> None:
    page.click("main >> text=New campaign")
    page.fill("#id_name", "Study")
    page.click("main form button")
    page.wait_for_url(f"**{STUDY}setup/")


def invite(page: Page, name: str, role: str) -> str:
    """Invite somebody who is new; return the link to give them."""
    page.goto(f"{STUDY}people/")
    page.fill("#id_name", name)
    page.select_option("#id_role", role)
    page.click("button:text-is('Invite')")
    return page.get_by_label("Link").input_value()


def import_files(page: Page) -> None:
    """Upload the files of the study all at once; who made the grades is asked."""
    page.goto(f"{STUDY}imports/")
    files = [file for names in FILES for file in DEMO.glob(names)]
    page.set_input_files("#id_uploads", files)
    expect(page.locator("#held")).to_contain_text("qrels.people.txt")
    expect(page.get_by_label("Source of the grades")).to_have_value("People")
    page.click("#held button.go")
    expect(page.locator("#imports .chip.ok")).to_have_count(len(files), timeout=60_000)


def write_guidelines(page: Page) -> None:
    """The organizer adds a line of this study's own to the guidelines for assignment."""
    page.goto(f"{STUDY}guidelines/")
    page.click("main a:text-is('assignment')")
    text = page.locator("main textarea")
    text.fill(f"{text.input_value()}\nIn this study, a number must be the same to count as support.\n")
    page.get_by_role("button", name="Save as a new version").click()
    page.wait_for_selector("text=Version 2 is used from now on")


def make_judge(page: Page, model_url: str) -> None:
    page.goto(f"{STUDY}judges/new/")
    page.fill("#id_name", "rehearsal")
    page.fill("#id_model", "rehearsal")
    page.fill("#id_base_url", model_url)
    page.click("main form button")
    page.get_by_role("button", name="Send a test request").click()
    expect(page.locator("#trial [role=status]")).to_contain_text("It works", timeout=60_000)


def launch(page: Page, kind: str, topics: str, **fields: str) -> None:
    """Launch a job after a look at what it will take, and watch it to its end."""
    page.goto(f"{STUDY}jobs/new/?kind={kind}")
    for name, label in fields.items():
        page.locator(f"#id_{name}").evaluate("field => { field.dataset.old = '' }")
        page.select_option(f"#id_{name}", label=label)
        page.wait_for_selector(f"#id_{name}:not([data-old])")  # the form comes anew, without what was typed meanwhile
    page.click("text=Paste topic ids")
    page.fill("#id_topics", topics)
    expect(page.locator("#estimate dt:text-is('Topics') + dd")).to_have_text(str(len(topics.split())))
    page.click("button[name=launch]")
    expect(page.locator("h1 .chip").first).to_have_text("done", timeout=60_000)


def make_condition(page: Page, method: str, name: str, **fields: str) -> None:
    page.goto(f"{STUDY}conditions/new/")
    page.check(f"[name=method][value='{method}']")
    page.fill("#id_name", name)
    for field, label in fields.items():
        page.select_option(f"#id_{field}", label=label)
    page.click("main form button")
    page.wait_for_selector("h1:text('Plan')")


def go_on(page: Page) -> None:
    """Open the next thing to do by keyboard; the first time of its kind that leads over the guidelines."""
    page.goto("/")
    page.keyboard.press("c")
    read = page.get_by_role("button", name="I have read them")
    expect(page.locator("#main[data-ready]").or_(read)).to_be_visible()
    if read.is_visible():
        read.click()
    page.wait_for_selector("#main[data-ready]")


def write_nuggets(page: Page) -> None:
    page.keyboard.press("n")
    for text in NUGGETS:
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    for _ in NUGGETS:
        page.keyboard.press("v")
        page.keyboard.press("k")
    saved(page)


def edit_drafts(page: Page) -> None:
    """Keep four of the model's drafts, the first reworded, and delete the others."""
    drafts = page.locator("#nugget-list .nugget").count()
    assert drafts > 4
    page.keyboard.press("l")
    page.keyboard.press("v")
    page.keyboard.press("r")
    page.keyboard.press("Control+a")
    page.keyboard.type("Too little sleep can start an attack")
    page.keyboard.press("Enter")
    saved(page)
    for key in "voo":
        page.keyboard.press(key)
        saved(page)
        page.keyboard.press("j")
    for _ in range(drafts - 4):
        page.keyboard.press("d")
        saved(page)
    assert page.locator("#nugget-list .nugget:not([hidden])").count() == 4


def hand_in(page: Page) -> None:
    page.keyboard.press("f")
    page.wait_for_selector("#finish[open]")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Home')")


def label_all(page: Page, keys: str, least: int) -> None:
    """Label by keyboard until the topic can be signed off, which takes this many labels at least, and sign it off."""
    done = page.locator("button:has-text('Sign off'):visible")
    labels = 0
    while not done.count():
        assert labels < 500
        page.keyboard.press(keys[labels % len(keys)])
        page.keyboard.press("Enter")
        page.wait_for_timeout(30)
        labels += 1
    assert labels >= least
    saved(page)
    page.keyboard.press("s")
    page.wait_for_selector("#ending[open]")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Signed off: your labels of this topic can be read")


def download(page: Page, link: Locator) -> bytes:
    with page.expect_download() as started:
        link.click()
    return Path(started.value.path()).read_bytes()


def compare(page: Page, first: str, second: str) -> None:
    page.goto(f"{STUDY}comparisons/")
    page.select_option("#id_first", label=first)
    page.select_option("#id_second", label=second)
    page.click("button:text-is('Compare')")
    page.wait_for_selector("#rankings", timeout=60_000)
    page.wait_for_selector("[data-figure] svg")
    page.wait_for_selector("[data-figure]:not(:has(svg))", state="detached")


def test_a_study_from_an_empty_database_to_its_figures(installation: Installation, signed_in) -> None:
    admin = signed_in(ADMIN)
    make_campaign(admin)
    olga = signed_in("olga", invite(admin, "olga", "organizer"))
    links = {name: invite(olga, name, "assessor") for name in ("anna", "ben")}
    import_files(olga)
    write_guidelines(olga)
    make_judge(olga, installation.model_url)
    launch(olga, "Drafts", "demo-2", qrels_source="People, 0 to 3")
    shot(olga, "job")

    # All of the plan before anybody begins: who makes a topic's nuggets gets their assignment once they are finished.
    make_condition(olga, "ManualNuggets", "ManualNuggets", qrels_source="People, 0 to 3")
    make_condition(olga, "ManualAssign", "Manual/Manual", nuggets="ManualNuggets")
    make_condition(olga, "ManualAssign", "Edits/Manual", nuggets="Drafts by rehearsal")
    make_condition(olga, "support from scratch", "Support by people")
    for condition, person, topic in PLAN:
        give(olga, condition, person, topic, campaign="study")
    olga.goto(f"{STUDY}plan/")
    shot(olga, "plan")

    anna = signed_in("anna", links["anna"])
    shot(anna, "home")
    go_on(anna)
    write_nuggets(anna)
    shot(anna, "nuggets")
    hand_in(anna)
    go_on(anna)
    shot(anna, "assignment")
    label_all(anna, "123", least=8 * len(NUGGETS))
    go_on(anna)
    shot(anna, "support")
    label_all(anna, "112", least=20)
    ben = signed_in("ben", links["ben"])
    go_on(ben)
    shot(ben, "drafts")
    edit_drafts(ben)
    hand_in(ben)
    go_on(ben)
    label_all(ben, "1233", least=8 * 4)

    launch(olga, "AutoAssign", "demo-1", nuggets="ManualNuggets")
    launch(olga, "Support", "demo-1")
    olga.goto(f"{STUDY}progress/")
    shot(olga, "progress")
    olga.goto(STUDY)
    shot(olga, "campaign")

    # What people said is in the scores: of three labels in turn each answer has one of support and one of partial.
    olga.goto(f"{STUDY}scores/")
    olga.locator("nav[aria-label=Conditions] >> text='Manual/Manual'").click()
    olga.wait_for_selector("#boards p b:has-text('Manual/Manual')")
    shot(olga, "scores")
    olga.get_by_role("button", name="Download").click()
    rows = csv.DictReader(io.StringIO(download(olga, olga.get_by_label("Manual/Manual as CSV", exact=True)).decode()))
    assert {(row["vstrict"], row["v"]) for row in rows if row["run_id"] not in STATISTICS} == {("0.3333333333", "0.5")}

    compare(olga, "Manual/Manual (assignment)", "Manual/Auto by rehearsal (assignment)")
    shot(olga, "comparison")
    olga.get_by_role("button", name="Download").click()
    result = json.loads(download(olga, olga.locator("a:text-is('comparison.json')")))
    assert sum(map(sum, result["labels"]["matrix"])) == result["labels"]["pairs"] == 8 * len(NUGGETS)
    for form, start in (("SVG", b"<svg"), ("PDF", b"%PDF"), ("PNG", b"\x89PNG")):
        assert download(olga, olga.locator(".charts figure").first.locator(f"a:text-is('{form}')")).startswith(start)

    olga.goto(f"{STUDY}exports/")
    shot(olga, "exports")
    exported = download(olga, olga.get_by_label(re.compile("^Assignments of Manual/Manual")).first)
    lines = [json.loads(line) for line in exported.decode().splitlines()]
    assert [len(line["nuggets"]) for line in lines] == [len(NUGGETS)] * 8
